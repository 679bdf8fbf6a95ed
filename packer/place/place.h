/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place - which cores each step shall stand on: DI and DIO-POWER over the units of the pool.
 *
 * What the units are: place/units.h. */
#ifndef BERTH_PLACE_PLACE_H
#define BERTH_PLACE_PLACE_H

#include "packer/steps/packer.h"

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

#endif
