/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place - which cores each step shall stand on: DI and DIO-POWER over the units of the pool.
 *
 * What the units are: place/units.h. */
#ifndef BERTH_PLACE_PLACE_H
#define BERTH_PLACE_PLACE_H

#include "packer/steps/stand.h"

/* Decides anew where everybody in the scene's pool stands; what the policy leaves open (which of
 * equal units, which core of a cache) is decided for staying.
 *
 * Units of steps for DIO-POWER (step_place.policy) are clustered beside the others, which DI
 * spreads; or, where the power of the packages is known and that has the smaller predicted
 * energy-delay product for the node's steps, all are spread by DI. While somebody is to be isolated
 * (isolation.h) all are placed by DI's prioritised mode. Fills in the rank and the energy-delay
 * products of the steps that the decision is for. 0, or -1 and err with the pool unchanged. */
int place_decide(const struct scene *scene, struct berth_error *err);

/* Begins step->place of a new or adopted step: which policy decides about it, and which was asked
 * for, by name, by edp, else by the site. */
void place_begin(const struct packer *packer, struct step *step);

/* The step stands where a berthd before this one had placed it. */
void place_adopt(struct step *step);

/* Fills in where the step's tasks stand under the pool. */
void place_describe(const struct packer *packer, const struct pool *pool, struct step *step);

/* The step stands where Slurm put it. */
void place_home(const struct packer *packer, struct step *step);

#endif
