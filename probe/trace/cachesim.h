/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cachesim - what a stream of memory references asks of the last-level cache.
 *
 * A private L1 and L2 filter the references (set-associative, LRU, write-allocate); what misses in
 * both asks the LLC, whose sets are LRU stacks: the position at which a line is found is its stack
 * distance, and the counts by position are the stack-distance profile (MODELS.md, section 1). By
 * Mattson's inclusion property hits[0..k-1] are the hits of a cache with the same sets and k ways,
 * so one pass tells what any share of the ways would hold.
 *
 * Demand references only: no prefetcher, no instruction fetches, no write-backs. Threads on
 * different cores have private caches each and one LLC; that a store takes the line out of the
 * other cores' private caches is not simulated. Pure arithmetic, no I/O, and nothing of libc, for
 * it is part of the valgrind tool. What berthctl does with a geometry and with counts needs libc
 * and is in cachesim_setup.c.
 *
 * With sample N, one LLC set of each N is simulated, chosen by a hash; the private caches and the
 * number of LLC accesses stay exact. */
#ifndef BERTH_PROBE_TRACE_CACHESIM_H
#define BERTH_PROBE_TRACE_CACHESIM_H

#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"
#include "probe/trace/dramsim.h"

#define CACHESIM_WAYS_MAX 64
#define CACHESIM_CORES_MAX 512 /* threads with private caches of their own */
#define CACHESIM_GROUPS 32     /* by which the error of sampling is estimated */
#define CACHESIM_SETS_MIN 64   /* that a sample must have */

struct cachesim_cache {
    uint64_t bytes; /* 0: there is none (L1 and L2 only) */
    uint32_t ways;
};

struct cachesim_geometry {
    struct cachesim_cache l1, l2, llc;
    uint32_t line_bytes; /* a power of two, the same at each level */
    uint32_t sample;     /* one LLC set of so many is simulated; 1: all */
};

/* All 64-bit counts, so that they can be added and subtracted one by one. */
struct cachesim_counts {
    uint64_t references; /* lines referenced: one across a line's end counts for each line */
    uint64_t accesses;   /* of the LLC, also of sets that are not simulated */
    uint64_t misses;     /* in the simulated sets */
    uint64_t hits[CACHESIM_WAYS_MAX]; /* in the simulated sets by LRU position, [0] MRU */
    struct {
        uint64_t accesses, misses;
    } group[CACHESIM_GROUPS]; /* simulated sets in random groups, where not all sets are */
};

#define CACHESIM_WORDS (sizeof(struct cachesim_counts) / sizeof(uint64_t))

struct cachesim;

/* ---- cachesim_setup.c ---- */

/* Checks that the geometry is possible. The number of sets, bytes / (ways * line), need not be a
 * power of two; what does not fill a set is left out. 0, or -1 and err. */
int cachesim_check(const struct cachesim_geometry *geometry, struct berth_error *err);

/* Subtracts each count: later - earlier. */
void cachesim_difference(const struct cachesim_counts *later, const struct cachesim_counts *earlier,
                         struct cachesim_counts *difference);

/* Estimates the LLC misses from the simulated sets: the LLC accesses, which are exact, times the
 * simulated sets' share of misses. *error (NULL: not wanted) is the standard error, 0 where all
 * sets were simulated: of the ratio estimator over the random groups as clusters, with the
 * correction for the share of sets that was seen (Cochran, Sampling Techniques, 3rd ed., eq. 6.13
 * and 9A.6). NAN where there is nothing to estimate it from. */
double cachesim_misses(const struct cachesim_counts *counts, uint32_t sample, double *error);

/* Returns by how much the simulated sets' hits are to be multiplied to stand for all. */
double cachesim_scale(const struct cachesim_counts *counts);

/* ---- cachesim.c ---- */

/* Makes empty caches of a geometry that is possible. alloc gives zeroed memory, or NULL, in which
 * case this gives NULL; alloc is called later, too, for each new core. Nothing is freed. */
struct cachesim *cachesim_new(const struct cachesim_geometry *geometry, void *(*alloc)(size_t));

/* Has what the LLC asks of memory simulated, too: reads of what it misses, and writes of lines that
 * were stored to when it gives them up. Each set has to be simulated (sample 1), and each reference
 * told by cachesim_access: the table of recent lines is not there then. */
void cachesim_memory(struct cachesim *sim, struct dramsim *memory);

/* Simulates one reference as cachesim_reference does, and says whether it is a store. */
void cachesim_access(struct cachesim *sim, uint64_t address, uint32_t size, bool store);

/* Changes to the private caches of this core, below CACHESIM_CORES_MAX; it is core 0 at first. A
 * core for whose caches there is no memory uses those of core 0. */
void cachesim_core(struct cachesim *sim, unsigned core);

/* Simulates one load or store of size >= 1 bytes at address; address + size - 1 must not wrap. */
void cachesim_reference(struct cachesim *sim, uint64_t address, uint32_t size);

struct cachesim_recent {
    uint64_t *address;
    uint64_t mask;
    unsigned line_shift;
};

/* Returns the table of the lines that the core used last in each set of its L1, which stays at its
 * place, or NULL where the L1 has no such table. To refer to such a line again changes nothing but
 * the count of references. address[(A >> line_shift) & mask] is the address of that line. */
const struct cachesim_recent *cachesim_recent(const struct cachesim *sim);

/* Returns what was counted since the beginning; valid as long as sim. */
const struct cachesim_counts *cachesim_counts(const struct cachesim *sim);

#endif
