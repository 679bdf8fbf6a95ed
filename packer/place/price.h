/* SPDX-License-Identifier: GPL-2.0-or-later */
/* price - what it costs that a step moves, whatever its memory costs. */
#ifndef BERTH_PLACE_PRICE_H
#define BERTH_PLACE_PRICE_H

#include "packer/steps/packer.h"
#include "packer/steps/registry.h"

/* What a move of a core costs at least, core-seconds: its caches are cold. */
#define PRICE_COLD_S 0.005

/* The part of a moved core's work that the move has to gain at least, for predictions are no
 * better: on simulated days (tests/bench/day) that saves a fifth of the moves, and nothing is lost.
 */
#define PRICE_DOUBT 0.01

/* What a move is taken to cost where nobody disturbs anybody, a part of the core's work. With p the
 * probability that programs disturb each other, a move pays where p * gain is more than
 * p * PRICE_DOUBT + (1 - p) * PRICE_NULL. On simulated days without any disturbance, rough noise
 * (tests/bench/day), that leaves .02 moves a job on the first day; without it there were .5. */
#define PRICE_NULL 0.11

/* Returns the odds that nobody disturbs anybody (models/slowdown/null_test.h), for price_core_s. 0
 * where streams share a cache of a memory node that has several, or hardware threads are places:
 * there gains may be about ports, or shared cores, which are not in doubt. A stream misses nearly
 * all that it asks a cache for, so that nobody's lines in the cache are what it loses. */
double price_null(const struct packer *packer);

/* Returns what the move of one of the step's cores costs whatever its memory costs, core-seconds,
 * by that policy; `null` are the odds that nobody disturbs anybody, 0 where what a step's own
 * threads do to each other is what there is to gain. The doubt doubles with each move of late: what
 * was expected of that one was not all that there is to gain, or has not come true. */
double price_core_s(const struct step *step, enum wire_policy policy, double horizon_s,
                    double null);

#endif
