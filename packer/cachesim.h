/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cachesim - what a stream of memory references asks of the last-level cache.
 *
 * A private L1 and L2 filter the references (set-associative, LRU, write-allocate); what misses in
 * both asks the LLC, whose sets are LRU stacks: the position at which a line is found is its stack
 * distance, and the counts by position are the stack-distance profile (MODELS.md, section 1). By
 * Mattson's inclusion property hits[0..k-1] are the hits of a cache with the same sets and k ways,
 * so one pass tells what any share of the ways would hold.
 *
 * Demand references only: no prefetcher, no instruction fetches, no write-backs. Pure arithmetic,
 * no I/O. */
#ifndef BERTH_CACHESIM_H
#define BERTH_CACHESIM_H

#include <stdint.h>

#include "error.h"
#include "profiles.h"

struct cachesim_cache {
    uint64_t bytes; /* 0: there is none (L1 and L2 only) */
    unsigned ways;
};

struct cachesim_geometry {
    struct cachesim_cache l1, l2, llc;
    unsigned line_bytes; /* a power of two, the same at each level */
};

struct cachesim_counts {
    uint64_t references; /* lines referenced: one across a line's end counts for each line */
    uint64_t hits[PROFILE_WAYS_MAX]; /* LLC hits by LRU position, [0] MRU */
    uint64_t misses;                 /* LLC misses */
};

struct cachesim;

/* Make empty caches. 0 and *out (free with cachesim_free), or -1 and err when the geometry is
 * impossible or memory short. The number of sets, bytes / (ways * line), need not be a power of
 * two; what does not fill a set is left out. */
int cachesim_create(struct cachesim **out, const struct cachesim_geometry *geometry,
                    struct berth_error *err);
void cachesim_free(struct cachesim *sim);

/* One load or store of size >= 1 bytes at address; address + size - 1 must not wrap. */
void cachesim_reference(struct cachesim *sim, uint64_t address, uint32_t size);

/* What was counted since the beginning; valid as long as sim. */
const struct cachesim_counts *cachesim_counts(const struct cachesim *sim);

/* All LLC accesses of the counts: hits at every position, and misses. */
uint64_t cachesim_accesses(const struct cachesim_counts *counts);

/* later - earlier, each count. */
void cachesim_difference(const struct cachesim_counts *later, const struct cachesim_counts *earlier,
                         struct cachesim_counts *difference);

#endif
