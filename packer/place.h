/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place - which cores each step shall stand on: DI and DIO-POWER over the units of the pool.
 *
 * What the units are: place_units.h. */
#ifndef BERTH_PLACE_H
#define BERTH_PLACE_H

#include "packer.h"

/* Bring the pool's members up to date with the live steps: cores of jobs with movable steps join,
 * cores of others leave, and who stood on a leaving core moves on (pool.h). With `guest`
 * (or NULL) all observed steps count as movable, as if they were. Changes only `pool`. */
void place_sync(const struct packer *packer, const struct step *guest, struct pool *pool);

/* CPUs of live steps that do not count as movable, and of jobs that have no step here that does. */
void place_others(const struct packer *packer, const struct step *guest, struct cpus *cpus);

/* Decide anew where everybody in `pool` stands; what the policy leaves open (which of equal units,
 * which core of a cache) is decided for staying.
 *
 * Units of steps for DIO-POWER (step_place.policy) are clustered beside the others, which DI
 * spreads; or, where the power of the packages is known and that has the smaller predicted
 * energy-delay product for the node's steps, all are spread by DI. While somebody is to be isolated
 * (isolation.h) all are placed by DI's prioritised mode. Fills the rank and the energy-delay
 * products of the units' steps (of the guest only, where there is one). 0, or -1 and err with pool
 * unchanged. */
int place_decide(struct packer *packer, struct step *guest, struct pool *pool,
                 struct berth_error *err);

/* Why the step stands where it stands, in a line for people. */
void place_reason(const struct step *step, char *text, size_t size);

/* Where CPUs that Slurm gave (home) stand under the pool: each core's image, hardware thread by
 * hardware thread. */
void place_image(const struct packer *packer, const struct pool *pool, const struct cpus *home,
                 struct cpus *cpus);

/* Can berth decide about these CPUs? Each must be a whole core's thread inside job_home and in the
 * topology. Returns NULL, or why not. */
const char *place_unfit(const struct packer *packer, const struct enforce_step *body);

#endif
