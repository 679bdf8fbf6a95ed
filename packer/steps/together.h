/* SPDX-License-Identifier: GPL-2.0-or-later */
/* together - the instants at which berthd does what is done by time.
 *
 * A program that waits for the slowest of its nodes at each iteration pays for each burst of each
 * node's berthd, where they come at different times; it pays once, where they come at the same
 * time. So that is done on multiples of its period on the wall clock, which all nodes have at the
 * same instant, as far as their clocks agree (LDMS samples so). berth.conf's `together = off`:
 * multiples on a clock that began with the node. tests/bench/silence measures both. */
#ifndef BERTH_STEPS_TOGETHER_H
#define BERTH_STEPS_TOGETHER_H

#include "packer/steps/packer.h"

/* Returns the first such instant of that period (s) that is more than half a period after at_s:
 * both CLOCK_MONOTONIC. */
double together_next(const struct packer *packer, double at_s, double every_s);

#endif
