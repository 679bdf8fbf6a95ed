/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watchpoint - tells when a thread touches an address again. A debug register does that, armed by
 * perf_event_open: the thread gets no signal and is not traced; the kernel writes a record, with
 * the thread's clock, and takes the register back after so many traps.
 *
 * A clock is an event of the thread: cache misses, for instance. The watchpoints of a thread are in
 * the clock's group, so what it counted is exact at each trap. The event is pinned: either it
 * counts all the time, or it stops, and its watchpoints with it, and reading it fails.
 *
 * A trap costs its thread 13 microseconds where it was measured, in a virtual machine whose host
 * handles debug exceptions; a watchpoint costs who sets it and takes it away 70.
 */
#ifndef BERTH_REUSE_WATCHPOINT_H
#define BERTH_REUSE_WATCHPOINT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/error.h"
#include "packer/reuse/perf_ring.h"

struct watch_clock {
    pid_t tid;
    int fd;
};

/* Counts this event in that thread; of attr only what to count matters. 0, or -1 and err. */
int watch_clock_open(struct watch_clock *clock, const struct perf_event_attr *attr, pid_t tid,
                     struct berth_error *err);
void watch_clock_close(struct watch_clock *clock); /* after its watchpoints */

/* Reads what it has counted. 0, or -1: it does not count, or not all the time. */
int watch_clock_read(const struct watch_clock *clock, uint64_t *count);

struct watchpoint {
    int fd;
    struct perf_ring ring;
};

struct watch_trap {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t count;   /* of the clock */
};

/* Watches the 8 bytes about an address, in the clock's thread, for reads and writes in user space,
 * until `traps` have come. 0, or -1 and err: no debug register is free, or the thread is gone. */
int watchpoint_open(struct watchpoint *point, const struct watch_clock *clock, uint64_t address,
                    unsigned traps, struct berth_error *err);
void watchpoint_close(struct watchpoint *point);

/* Takes the next trap that was not taken yet: false when there is none. */
bool watchpoint_next(struct watchpoint *point, struct watch_trap *trap);

/* Says whether its thread has ended. */
bool watchpoint_over(const struct watchpoint *point);

#endif
