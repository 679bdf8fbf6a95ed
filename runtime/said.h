/* SPDX-License-Identifier: GPL-2.0-or-later */
/* said - what a process tells berthd, through the FIFO beside the page. */
#ifndef BERTH_RUNTIME_SAID_H
#define BERTH_RUNTIME_SAID_H

#include <stdbool.h>

#include "runtime/page.h"

enum said_region { SAID_FOLLOWED, SAID_OWN, SAID_NESTED, SAID_REGIONS };

/* Prepares for saying something beside the page, whose path has room for no more than 1024 bytes.
 */
void said_begin(const char *page);

/* Counts a parallel region, and says so when it is time to. The functions here keep errno, never
 * wait, and may be called by any thread. */
void said_region(enum said_region region, const struct rt_page *page, uint32_t threads);

/* Counts an object that is distributed from now on, and says so when it is time to. */
void said_object(const struct rt_page *page);

/* Counts that contention began, or has ended, and says so at the next said_now_and_then(). */
void said_contention(bool began);

/* Count so much time of contention; and a rest of one thread, which ended because it was too long
 * for all of them, or not. */
void said_contended(uint64_t ns);
void said_rest(uint64_t ns, bool freed);

/* Says what is counted, where contention has begun or ended, or a second has passed. */
void said_now_and_then(void);

/* What has more to say: fills a record of its own with what was counted since the last one, and
 * says whether there is anything; in a child of fork it forgets. There is one of it at most. */
struct said_more {
    bool (*take)(struct rt_region *record);
    void (*forget)(void);
};
void said_more(const struct said_more *by);

/* Says a surprise, at once. */
void said_surprise(enum rt_surprise surprise, int32_t detail);

#endif
