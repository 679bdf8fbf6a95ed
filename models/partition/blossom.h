/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blossom - minimum-weight perfect matching of a complete graph: Edmonds' algorithm, O(n^3).
 *
 * Integers, so that "is this edge tight" has an exact answer; 128 bits, so that a double becomes
 * such an integer without loss (see matching.c). */
#ifndef BERTH_MODELS_PARTITION_BLOSSOM_H
#define BERTH_MODELS_PARTITION_BLOSSOM_H

#include <stddef.h>

__extension__ typedef __int128 blossom_weight;

#define BLOSSOM_VERTICES_MAX 65536

/* Matches n vertices, n even and at most BLOSSOM_VERTICES_MAX: mate[i] is the vertex that i is
 * matched with; the sum of weight[i * n + mate[i]] is least. weight[n * n] is symmetric (its
 * diagonal is ignored), made of multiples of 4 (halves of halves are exact) of at most 2^94.
 * Returns 0; -1 with errno ENOMEM. */
int blossom_match(size_t n, const blossom_weight *weight, size_t *mate);

#endif
