/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slices - gives the threads of a step one scheduling class and time slice, and takes them back.
 *
 * "Same priority, own quantum" of Pusukuri 2012 is SCHED_BATCH (a thread that wakes preempts
 * nobody) with sched_runtime as the slice, nice as it was. The kernel keeps a slice within 0.1 to
 * 100 ms; before Linux 6.12 it has none. Never a real-time class: that one starves slurmd.
 *
 * A thread is berth's to change while it has SCHED_OTHER and the slice that every thread begins
 * with, or what berth gave. Any other class or slice is its program's own, and stays. So what was
 * before is the same for all that are changed, and needs no list: SCHED_OTHER with no slice of its
 * own. It takes that nobody has SCHED_BATCH before, which slices_look() tells.
 *
 * Threads come and go meanwhile: new ones inherit from who made them, so all are looked at again
 * until nobody had to be changed. */
#ifndef BERTH_ENFORCE_SLICES_H
#define BERTH_ENFORCE_SLICES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/error.h"
#include "packer/system/rootfs.h"

#define SLICES_THREADS_MAX 4096 /* of a step: to look at each takes time (enforce_pace) */

/* What was seen of all threads, when they were looked at last. */
struct slices_seen {
    size_t threads;
    size_t batch;      /* that have SCHED_BATCH */
    size_t own;        /* whose class or slice is their program's, without those */
    size_t changed;    /* that were given another class or slice, in all rounds together */
    uint64_t slice_ns; /* the shortest of those with SCHED_BATCH, as read back; 0: there is none, or
                          this kernel has no slices */
};

/* Looks at the threads of these processes, and changes nobody. */
void slices_look(const struct rootfs *root, size_t n, const pid_t *pid, struct slices_seen *seen);

/* Gives each thread of these processes SCHED_BATCH and so long a slice, slice_ns > 0. 0, and all
 * that are not their program's own were read back as wanted; or -1 and err: some may have it. A
 * process that has gone is none. */
int slices_give(const struct rootfs *root, size_t n, const pid_t *pid, uint64_t slice_ns,
                struct slices_seen *seen, struct berth_error *err);

/* Gives each thread of theirs that has SCHED_BATCH the class SCHED_OTHER and no slice of its own.
 * 0, or -1 and err: some may have it still. */
int slices_take(const struct rootfs *root, size_t n, const pid_t *pid, struct slices_seen *seen,
                struct berth_error *err);

#endif
