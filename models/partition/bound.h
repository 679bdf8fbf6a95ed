/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bound - what no partition can cost less than. */
#ifndef BERTH_MODELS_PARTITION_BOUND_H
#define BERTH_MODELS_PARTITION_BOUND_H

#include "models/partition/costs.h"

struct bound;

/* Chooses the way to go. All programs take one core, all caches have partition->group, and that and
 * ->groups are <= n; the costs' pairs are known (costs_of_pairs) where they are pairwise; they have
 * to live as long. Returns NULL with errno ENOMEM. */
struct bound *bound_new(const struct costs *costs);
void bound_free(struct bound *bound);

/* Raises the bound in one more step; `total` is what the best known partition costs. Returns false
 * when no further step would gain much. */
bool bound_raise(struct bound *bound, double total);

/* Takes the first steps, where they are cheap: a search may take all the time that is left. */
void bound_begin(struct bound *bound, double total);

/* Returns the bound so far, -INFINITY if there is none; may exceed the cost of a partition that is
 * not better than a `total` given. */
double bound_best(const struct bound *bound);

#endif
