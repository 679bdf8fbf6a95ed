/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own_cpus - where berthd's own threads run: on cores that no step has, while there are any (those
 * of Slurm's CoreSpecCount are such), so that what berthd does interrupts nobody. Where steps have
 * all cores the kernel chooses, among all that berthd was started with: those are never left, so
 * that CPUAffinity= of its service holds.
 *
 * There the event loop goes before others (system/urgency.h), for its answers' sake. Less urgent it
 * would take as much of a program, only later, and in pieces it would take more: berth-guide(7),
 * SILENCE, has the figures. A real-time thread is not interrupted by berthd, which is none: the
 * kernel sees to that. */
#ifndef BERTH_DAEMON_OWN_CPUS_H
#define BERTH_DAEMON_OWN_CPUS_H

#include "packer/steps/packer.h"

struct own_cpus {
    struct cpus given;           /* with which berthd was started; empty: not read yet */
    struct cpus now;             /* where its threads run */
    uint64_t steps, live, moves; /* when that was chosen: newest step, live steps, moves so far */
};

/* Returns the CPUs of `given` on whose cores no step runs, is at home or may come to be; all of
 * `given` where there is none. */
struct cpus own_cpus_choose(const struct packer *packer, const struct cpus *given);

/* Has the threads of this process follow the steps. Threads that start later do as those. A machine
 * that is a recorded tree has no CPUs for them: they stay. */
void own_cpus_follow(struct own_cpus *own, const struct packer *packer);

#endif
