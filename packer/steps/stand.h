/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stand - the geometry of the pool: which cores are members of it, and where CPUs stand under its
 * permutation. No policy is here: what decides about a place is in place.h. */
#ifndef BERTH_STEPS_STAND_H
#define BERTH_STEPS_STAND_H

#include "packer/steps/packer.h"

/* Tells whether the step counts as one that berth places. With a `guest`, observed steps do, too;
 * with NULL they do not. */
bool stand_movable(const struct step *step, const struct step *guest);

/* Brings the pool's members up to date with the live steps: cores of jobs with movable steps join,
 * cores of others leave, and who stood on a leaving core moves on (pool.h). With a `guest` all
 * observed steps count as movable. Changes only `pool`. */
void stand_sync(const struct packer *packer, const struct step *guest, struct pool *pool);

/* Collects the CPUs of live steps that do not count as movable, and of jobs that have no step here
 * that does. */
void stand_others(const struct packer *packer, const struct step *guest, struct cpus *cpus);

/* Maps CPUs that Slurm gave (home) to where they stand under the pool: each core's image, hardware
 * thread by hardware thread. */
void stand_image(const struct packer *packer, const struct pool *pool, const struct cpus *home,
                 struct cpus *cpus);

/* Returns why berth cannot decide about these CPUs, or NULL: each must be a whole core's thread
 * inside job_home and in the topology. */
const char *stand_unfit(const struct packer *packer, const struct enforce_step *body);

#endif
