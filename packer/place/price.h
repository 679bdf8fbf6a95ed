/* SPDX-License-Identifier: GPL-2.0-or-later */
/* price - what it costs that a step moves, whatever its memory costs. */
#ifndef BERTH_PLACE_PRICE_H
#define BERTH_PLACE_PRICE_H

#include "packer/steps/registry.h"

/* What a move of a core costs at least, core-seconds: its caches are cold. */
#define PRICE_COLD_S 0.005

/* The part of a moved core's work that the move has to gain at least, for predictions are no
 * better: on simulated days (tests/bench/day) that saves a fifth of the moves, and nothing is lost.
 */
#define PRICE_DOUBT 0.01

/* Returns what the move of one of the step's cores costs whatever its memory costs, core-seconds,
 * by that policy. The doubt doubles with each move of late: what was expected of that one was not
 * all that there is to gain, or has not come true. */
double price_core_s(const struct step *step, enum wire_policy policy, double horizon_s);

#endif
