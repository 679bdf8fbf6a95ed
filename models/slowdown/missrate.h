/* SPDX-License-Identifier: GPL-2.0-or-later */
/* missrate - who should share a cache, told by miss rates alone (Blagodurov 2010, section 2.2.3).
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_SLOWDOWN_MISSRATE_H
#define BERTH_MODELS_SLOWDOWN_MISSRATE_H

#include "models/slowdown/app.h"

/* Returns the LLC misses per million instructions, prefetches included: llc_mpki * 1000, else the
 * misses of the profile; NAN where neither is known. */
double missrate_of(const struct app *app);

/* Returns how badly programs of these miss rates get on. The scheme keeps the sum of miss rates of
 * every cache close to that of every other; what a pair adds to the sum of the squares of these
 * sums is twice the product of the two rates, so that is the score (a plain sum would be the same
 * for every matching). The paper has no formula of a pair. In terms of Pain: the miss rate is
 * sensitivity and intensity in one, devils being both. Units: (misses per million instructions)^2.
 */
struct app_pair missrate_pair(double a, double b);

#endif
