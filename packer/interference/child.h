/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child - starts the reporter, a short-lived child that times memory accesses on one CPU, to see
 * how busy the cache and the memory behind it are.
 *
 * It reads a buffer of half a last-level cache, a word of each line in eight streams, lets the
 * others have the cache for 2 ms, and times how long reading it again takes; and so on. Where
 * nobody is at work the buffer is still in the cache; what others brought into the cache has thrown
 * lines of it out, and what they take of the memory's bandwidth makes the reporter wait for them.
 * (Read without a pause it defends its lines, and hardly notices anybody.) Its own clock, a chain
 * of multiplications which no neighbour slows down but by the processor's frequency, is timed too.
 *
 * The child is bound to its CPU, has the scheduling class SCHED_IDLE (whoever else wakes up there
 * displaces it at once) and is killed by its own timer when its time is over. */
#ifndef BERTH_INTERFERENCE_CHILD_H
#define BERTH_INTERFERENCE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/error.h"

#define PROBE_CHILD_LINE_BYTES 64
#define PROBE_CHILD_BYTES_MIN ((size_t)1 << 20)
#define PROBE_CHILD_BYTES_MAX                                                                      \
    ((size_t)32 << 20) /* to write more takes too much of a probe's time */

struct probe_child_task {
    unsigned cpu;     /* the only one that it runs on */
    size_t bytes;     /* of the buffer */
    unsigned time_ms; /* after which it is killed, its start included */
};

struct probe_child_result {
    double access_ns;  /* per line: the median of the readings */
    double op_ns;      /* per multiplication */
    double cpu_s;      /* CPU time of the child until then */
    uint32_t readings; /* that were timed */
};

/* A child at work. */
struct probe_child {
    pid_t pid; /* 0: gone */
    int fd;    /* readable when it has a result or has ended; close-on-exec, does not block */
};

/* Returns the bytes of the buffer for a last-level cache of that size (0: unknown): half of it,
 * within the bounds. */
size_t probe_child_bytes(size_t llc_bytes);

/* Starts a child. 0, or -1 and err. */
int probe_child_start(struct probe_child *child, const struct probe_child_task *task,
                      struct berth_error *err);

/* Takes its result, once fd is readable; a child that is still at work is killed. Closes fd in any
 * case, and does not wait for the child to be gone: that may take a while where somebody has come
 * to work on its CPU. 0; or -1 and err: it was killed, could not run on that CPU, or the CPU was
 * not its own. */
int probe_child_finish(struct probe_child *child, struct probe_child_result *result,
                       struct berth_error *err);

/* Says whether the child is gone, after probe_child_finish; to be asked until it is. */
bool probe_child_gone(struct probe_child *child);

#endif
