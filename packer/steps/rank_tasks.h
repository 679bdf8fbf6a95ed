/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rank_tasks - the ranks of an MPI program as tasks of the step that their launcher runs in.
 *
 * While a step has rank tasks (body.ranks), these are what is placed, sized and moved. The launcher
 * and the batch script are nobody's task then: they keep the step's home, where the next mpirun
 * looks which cores it may bind to. The tasks that Slurm has started are kept, and come back when
 * the ranks are over. */
#ifndef BERTH_STEPS_RANK_TASKS_H
#define BERTH_STEPS_RANK_TASKS_H

#include "packer/steps/registry.h"

/* Finds the home of each of n ranks: of the CPUs that it was bound to, those that are of `whole`,
 * the home of all. What lies outside (a launcher sees also where the step stands now) becomes as
 * many CPUs of `whole` that no rank has, as far as there are some. Who has none then has all. */
void rank_homes(const struct cpus *whole, size_t n, const struct step_rank *rank,
                struct cpus *home);

/* The ranks are the step's tasks from now on, beside no other; those that were already keep their
 * home. Returns 0, or -1 for want of memory with nothing changed. */
int rank_tasks_take(struct step *step, const struct step_rank *rank, size_t n);

/* The step's tasks are those again that Slurm has started. */
void rank_tasks_drop(struct step *step);

/* Are the step's tasks just these ranks? */
bool rank_tasks_are(const struct step *step, const struct step_rank *rank, size_t n);

/* Where all that Slurm has started was at home. */
void rank_tasks_whole(const struct step *step, struct cpus *whole);

#endif
