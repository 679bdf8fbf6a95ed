/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opinion - what a policy of the papers thinks of cores that share a cache: the score of Pain, SDC,
 * animal classes and miss rates (Blagodurov 2010, section 2.2).
 *
 * A policy that lacks something of a step takes the next best (ladder.h): hits that fall off as is
 * usual where there is no profile, the average of the known programs where nothing is known. */
#ifndef BERTH_PLACE_OPINION_H
#define BERTH_PLACE_OPINION_H

#include "packer/place/forecast.h"

struct opinion;

/* Forms the policy's opinion of these slots (n of them; doubles do no harm). NULL when out of
 * memory, and for a policy that scores no pairs. */
struct opinion *opinion_form(const struct forecast *forecast, enum wire_policy policy, size_t n,
                             const size_t *slot);
void opinion_free(struct opinion *opinion); /* NULL is fine */

/* Returns the score of one core of each slot beside one of the other. */
double opinion_pair(const struct opinion *opinion, size_t a, size_t b);

/* Returns the sum of the scores of all pairs of cores (of different owners) that share a cache. */
double opinion_score(const struct opinion *opinion, size_t n, const struct forecast_core *core);

#endif
