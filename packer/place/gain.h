/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gain - what it is worth to go from one standing to another, by the policy that proposes it.
 *
 * The unit is the same for all policies: cores' worth of work per second. contend's forecast is in
 * that unit. The others' scores are not: their gain is the part by which the score gets better, of
 * the work that is lost now by the forecast, or of PLACE_AT_STAKE of the cores where it sees less.
 * DI's score, which it makes small, is the sum of the squares of the miss rates of packages, memory
 * nodes and caches. */
#ifndef BERTH_PLACE_GAIN_H
#define BERTH_PLACE_GAIN_H

#include "packer/steps/stand.h"

/* Returns how many cores' worth of work more is done under `next` than under `now`, two scenes of
 * the same steps, as that policy judges; NAN where it cannot tell. The forecast is up to date. */
double gain_of(const struct scene *now, const struct scene *next, enum wire_policy policy);

#endif
