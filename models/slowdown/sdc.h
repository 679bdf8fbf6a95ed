/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sdc - stack distance competition: how two programs share the ways of a cache (Chandra 2005, as
 * used in Blagodurov 2010, section 2.2.1). The paper scores a pair both by "the sum of the extra
 * misses" and by the "degradation relative to solo miss rates"; this takes the sum, in misses per
 * million instructions. Who wins a position where both counters are equal is not said there.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_SLOWDOWN_SDC_H
#define BERTH_MODELS_SLOWDOWN_SDC_H

#include "models/slowdown/app.h"

/* Merges the profiles of a and b position by position on a cache of `ways`: each position goes to
 * the program whose current counter is larger, which moves on to its next counter. Of equal ones,
 * the program that has won fewer positions wins; then a. Behind the end of a shorter profile the
 * counters are 0. The positions that a program won are its ways; its hits beyond them, as far as it
 * has them alone on such a cache, are what it suffers: misses per million instructions more than
 * alone. */
struct app_pair sdc_pair(const struct app_sdp *a, const struct app_sdp *b, size_t ways);

#endif
