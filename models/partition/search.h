/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exchange - a good partition of many programs: local search by moving and exchanging members. */
#ifndef BERTH_MODELS_PARTITION_SEARCH_H
#define BERTH_MODELS_PARTITION_SEARCH_H

#include "models/partition/partition.h"

struct exchange;

/* Begin with partition->start, or greedily. partition->groups <= n and ->group <= n. Returns NULL
 * with errno ENOMEM. Free with exchange_free. */
struct exchange *exchange_new(const struct partition *partition);
void exchange_free(struct exchange *exchange);

/* Exchange members until that gains nothing more; from the second time on, of the best partition, a
 * little disturbed. True if it is better now. */
bool exchange_again(struct exchange *exchange);

/* The best so far: its cost, and the group of each program (group_of may be NULL). */
double exchange_best(const struct exchange *exchange, size_t *group_of);

#endif
