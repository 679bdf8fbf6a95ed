/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lock_program - the eBPF programs that count waiting for locks, as instructions: they are so small
 * that no compiler for them is needed.
 *
 * Three maps: `process` has three numbers for each watched process, `start` has for each thread
 * that waits now when it began, and `thread` has for each watched thread of such a process the time
 * of its waits that have ended. The programs run in the thread that waits:
 *
 *   enter   is the process watched, and does the call wait? start[thread] = now; began += now;
 *           waiting += 1
 *   leave   did the thread wait? waiting -= 1; began -= its start; ended += now - its start;
 *           and if it is watched itself, thread += now - its start.
 *           At the call's end, and when a thread dies in it.
 *
 * The time is then ended + waiting * now - began. Each number is added to atomically, but not all
 * three at once. A state in between that lasts (the program was interrupted) makes the sum too
 * small, by the order of the additions; one that is there for a moment only is seen by reading the
 * numbers twice. */
#ifndef BERTH_COUNTERS_LOCK_PROGRAM_H
#define BERTH_COUNTERS_LOCK_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

/* Of one process, in the map `process` by its number (4 bytes). The key in the maps `start`
 * and `thread` is a thread as bpf_get_current_pid_tgid gives it (8 bytes), the value ns (8 bytes).
 */
struct lock_numbers {
    uint64_t ended_ns, began_ns, waiting;
};

enum lock_hook {
    LOCK_ENTER_FUTEX, /* tracepoint sys_enter_futex: a call that may wait or not */
    LOCK_ENTER,       /* of a call that always waits: sys_enter_futex_waitv, sys_enter_futex_wait */
    LOCK_LEAVE,       /* at the end of each of them, and of a thread */
    LOCK_HOOKS
};

#define LOCK_PROGRAM_MAX 64

struct lock_program {
    struct bpf_insn insn[LOCK_PROGRAM_MAX];
    size_t length;
};

/* The descriptors of the maps. */
struct lock_maps {
    int process, start, thread;
};

/* Writes the program for a hook. */
void lock_program_write(struct lock_program *program, enum lock_hook hook,
                        const struct lock_maps *maps);

#endif
