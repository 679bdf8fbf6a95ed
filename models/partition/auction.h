/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auction - a quick start for a matching: most vertices matched, and duals that say so. */
#ifndef BERTH_MODELS_PARTITION_AUCTION_H
#define BERTH_MODELS_PARTITION_AUCTION_H

#include <stddef.h>

#include "models/partition/blossom.h"

#define AUCTION_NONE ((unsigned)-1)

/* Gives each of n vertices (an even number) a dual, such that no edge weighs less than its ends'
 * duals, and matches most of them (mate; AUCTION_NONE: with nobody), along edges that weigh just
 * that. weight[n * n] as blossom_match takes it. All duals are even. */
void auction_run(size_t n, const blossom_weight *weight, blossom_weight *dual, unsigned *mate);

#endif
