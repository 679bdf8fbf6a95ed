/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opening - a watchpoint is set beside the event loop.
 *
 * perf_event_open of a thread waits for the exec_update_lock of its process, which one has that is
 * inside execve: for as long as it likes, when that closes a file of a file server that does not
 * answer. So hands (base/hands.h) set watchpoints. Reading and closing them waits for nobody. */
#ifndef BERTH_REUSE_OPENING_H
#define BERTH_REUSE_OPENING_H

#include <stdbool.h>

#include "packer/base/hands.h"
#include "packer/reuse/watchpoint.h"

struct opening {
    struct perf_event_attr counts; /* what the clock counts */
    struct watch_clock clock;      /* of that thread; fd < 0: it has none yet */
    uint64_t address;
    unsigned traps;
    bool set; /* the watchpoint is: */
    struct watchpoint point;
    uint64_t start; /* the clock by then */
};

/* Returns what is to be opened, with a descriptor of its own for the clock; NULL: it cannot be.
 */
struct opening *opening_new(const struct perf_event_attr *counts, const struct watch_clock *clock,
                            uint64_t address, unsigned traps);

/* Closes all that it has. */
void opening_free(void *opening);

extern const struct hands_task opening_task;

#endif
