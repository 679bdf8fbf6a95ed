/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exact - the exact partition of few programs, by dynamic programming over all their subsets. */
#ifndef BERTH_MODELS_PARTITION_EXACT_H
#define BERTH_MODELS_PARTITION_EXACT_H

#include "models/partition/costs.h"

/* Divides at most PARTITION_EXACT_MAX programs. Returns 0; 1 when it was stopped, and group_of is
 * as it was; -1 with errno ENOMEM. */
int exact_solve(struct costs *costs, size_t *group_of);

#endif
