/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stand - the geometry of the pool: which cores are members of it, and where CPUs stand under its
 * permutation. No policy is here: what decides about a place is in place.h. */
#ifndef BERTH_STEPS_STAND_H
#define BERTH_STEPS_STAND_H

#include "packer/steps/packer.h"

/* What a decision is about: the live steps, standing where the pool puts them. */
struct scene {
    const struct packer *packer;
    struct pool *pool;
    bool as_if; /* observed steps count, too, as if berth placed them */
};

/* Tells whether the step counts as one that berth places. */
bool stand_movable(const struct scene *scene, const struct step *step);

/* Tells whether the decision is for the step: for those that are placed, or, as if, for those that
 * are observed. */
bool stand_decides(const struct scene *scene, const struct step *step);

/* Brings the pool's members up to date with the live steps: cores of jobs with movable steps join,
 * cores of others leave, and who stood on a leaving core moves on (pool.h). Returns 0,
 * or -1 with the pool unchanged for want of memory. */
int stand_sync(const struct scene *scene);

/* Says whether idle cores may be members: berth.conf lets them, there is a step that can stand
 * there, and Slurm confines all that do, so that nobody starts unseen (then nobody's cores are
 * known). */
bool stand_idle(const struct scene *scene);

/* And are they members, as berth.conf has it: with idle = auto only once those who start were seen
 * to ask for their cores (strangers.h), and steps are moved at all. */
bool stand_idle_proved(const struct packer *packer);

/* Marks the packages on which live steps stand that do not count as movable, or others run who are
 * not in berth's care (strangers.h): awake[topo->packages], all false before. */
void stand_awake(const struct scene *scene, bool *awake);

/* Returns the CPU of `to` that has the same place among them as `cpu` has in `from`; CPUS_MAX: `to`
 * has not so many. */
size_t stand_counterpart(const struct cpus *to, const struct cpus *from, size_t cpu);

/* Maps CPUs that Slurm gave (home) to where they stand under the pool: each core's image, hardware
 * thread by hardware thread. */
void stand_image(const struct packer *packer, const struct pool *pool, const struct cpus *home,
                 struct cpus *cpus);

/* Returns why berth cannot decide about these CPUs, or WIRE_NOT_LEFT: each must be a whole core's
 * thread inside job_home and in the topology. */
enum wire_left stand_unfit(const struct packer *packer, const struct enforce_step *body);

#endif
