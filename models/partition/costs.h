/* SPDX-License-Identifier: GPL-2.0-or-later */
/* costs - what groups of programs cost, each asked for once: a cost may take microseconds to find,
 * and a search asks for the same groups again and again. */
#ifndef BERTH_MODELS_PARTITION_COSTS_H
#define BERTH_MODELS_PARTITION_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/partition/partition.h"

struct costs_slot;

struct costs {
    const struct partition *partition;
    uint64_t *key;             /* [n] of each program's kind */
    double *pair;              /* [n * n] of two; NULL before costs_of_pairs */
    struct costs_slot *memory; /* NULL where the cost is pairwise */
    size_t remembered;
};

/* Prepares costs of that partition, whose cores, kind and room are there, and which has to live as
 * long. Returns 0; -1 with errno ENOMEM. costs_clear frees it, also one that is all zeros. */
int costs_init(struct costs *costs, const struct partition *partition);
void costs_clear(struct costs *costs);

/* Returns what the n members cost together; 0 for none. */
double costs_of(struct costs *costs, const size_t *member, size_t n);

/* Asks for the costs of all pairs; of some of them where partition->stop says so. Returns 0; -1
 * with errno ENOMEM. */
int costs_of_pairs(struct costs *costs);

/* Returns the sum of the costs of the members' pairs, after costs_of_pairs. */
double costs_by_pairs(const struct costs *costs, const size_t *member, size_t n);

/* Returns whether the caller of partition_solve wants it to end. */
bool costs_stopped(const struct costs *costs);

#endif
