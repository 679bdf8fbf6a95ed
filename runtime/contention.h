/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contention - whether the memory that the process's threads share is contended, as berthd's
 * blackboard says (Adaptive Scheduling, Porterfield 2012, section 3.1). */
#ifndef BERTH_RUNTIME_CONTENTION_H
#define BERTH_RUNTIME_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/page.h"

#define CONTENTION_PART 4 /* one thread of so many rests meanwhile (section 3.1) */

/* Returns whether there is contention, and looks at the blackboard first where nobody has done so
 * at this time. Keeps errno, never waits, and may be called by any thread. `now_ns`: what
 * contention_clock() has said. */
bool contention_is(const struct rt_page *page, uint64_t now_ns);

/* Returns the time in ns, which goes on by some ms at once: it costs a few ns. */
uint64_t contention_clock(void);

/* Has the blackboard be found beside the page, whose path is given, when it is wanted. */
void contention_begin(const char *page);

#endif
