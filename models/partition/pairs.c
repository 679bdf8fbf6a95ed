/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partition_pairs - what a group costs when it is the sum over its pairs. */
#include "models/partition/partition.h"

double partition_pairs_cost(const size_t *members, size_t n, void *arg)
{
    const struct partition_pairs *pairs = arg;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            sum += pairs->degradation[members[i] * pairs->n + members[j]] +
                   pairs->degradation[members[j] * pairs->n + members[i]];
    return sum;
}
