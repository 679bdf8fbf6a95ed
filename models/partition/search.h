/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search - a good partition of many programs: local search by moving and exchanging members. */
#ifndef BERTH_MODELS_PARTITION_SEARCH_H
#define BERTH_MODELS_PARTITION_SEARCH_H

#include "models/partition/costs.h"

struct search;

/* Begins with partition->start, or greedily. Where the cost is more than that of the pairs, it goes
 * by the pairs first, which takes no time, and then on from there if that is better. The costs,
 * whose pairs are known (costs_of_pairs), have to live as long. Returns NULL with errno ENOMEM.
 * Free with search_free. */
struct search *search_new(struct costs *costs);
void search_free(struct search *search);

/* Exchanges members until that gains nothing more; from the second time on, of the best partition,
 * a little disturbed. Returns whether it is better now. */
bool search_again(struct search *search);

/* Returns the cost of the best so far; the group of each program in group_of (may be NULL). */
double search_best(const struct search *search, size_t *group_of);

#endif
