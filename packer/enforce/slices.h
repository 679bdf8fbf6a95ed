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
 * own. It takes that nobody has SCHED_BATCH before, which SLICES_LOOK tells.
 *
 * A thread that berth has changed and that its program then sets to SCHED_OTHER keeps berth's slice
 * (the kernel leaves it). Berth's slice is taken back there, too: so who gives slices has to know
 * all that were given (slices_known). While a thread has a real-time class the kernel hides its
 * slice, and nobody can take that back.
 *
 * Threads come and go meanwhile: new ones inherit from who made them, so all are looked at again
 * until nobody had to be changed: pass by pass, by who knows which processes there are. */
#ifndef BERTH_ENFORCE_SLICES_H
#define BERTH_ENFORCE_SLICES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/enforce/enforce.h"

/* Of a step. To look at one takes 2 us, to change one 5 us (measured on Linux 6.18): all of them 30
 * ms, so it is done in several turns. */
#define SLICES_THREADS_MAX 4096

#define SLICES_MS_MAX 100 /* the kernel gives no more */

/* Says which slices are not a program's own. */
struct slices_known {
    uint64_t base_ns;     /* of a thread that has none of its own; 0: this kernel has no slices */
    struct cpus given_ms; /* those that berth has given, in ms, as the kernel gives them */
};

/* What was seen of all threads, when they were looked at last. */
struct slices_seen {
    size_t threads;
    size_t batch;       /* that have SCHED_BATCH */
    size_t own;         /* whose class or slice is their program's, without those */
    size_t changed;     /* that were given another class or slice */
    struct cpus own_ms; /* the slices of SCHED_OTHER among `own`, as far as they are whole ms */
    uint64_t slice_ns; /* the shortest of those with SCHED_BATCH, as read back; 0: there is none, or
                          this kernel has no slices */
};

/* What a pass does with each thread: looks only; gives it SCHED_BATCH and a slice; gives it, where
 * it has SCHED_BATCH, the class SCHED_OTHER and no slice of its own. */
enum slices_do { SLICES_LOOK, SLICES_GIVE, SLICES_TAKE };

/* Returns the slice of a thread that has none of its own, in ns, which is the caller's; 0: this
 * kernel has none. */
uint64_t slices_base_ns(void);

/* One pass through the threads of n processes of the step, which is to be freed. A slice in ns > 0,
 * with SLICES_GIVE, also to those that have one of known->given_ms. NULL: no memory. */
struct slices_pass;
struct slices_pass *slices_pass_new(struct wire_step_id id, size_t n, const pid_t *pid,
                                    enum slices_do what, uint64_t slice_ns,
                                    const struct slices_known *known);
void slices_pass_free(struct slices_pass *pass); /* NULL is fine */

/* Before a pass goes on in a later turn: leaves those processes out that are not among these n, for
 * their numbers may be strangers' by now. */
void slices_pass_keep(struct slices_pass *pass, size_t n, const pid_t *pid);

/* Goes on with it, as far as the pace allows (enforce_pace). seen: what there was until now. 0: all
 * were visited, and those that are not their program's own have what was wanted, but for threads
 * that began meanwhile: so it takes another pass, which has changed nobody. 1: there is more to do.
 * -1 and err: some may have it. A process that has gone is none. */
int slices_pass_turn(struct enforce *enforce, struct slices_pass *pass, struct slices_seen *seen,
                     struct berth_error *err);

#endif
