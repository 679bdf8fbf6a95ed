/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cachesim_parts - what a simulator is made of, for the two files that make and free it. */
#ifndef BERTH_CACHESIM_PARTS_H
#define BERTH_CACHESIM_PARTS_H

#include <stdbool.h>

#include "cachesim.h"

struct cache {
    uint64_t *line; /* [simulated sets * ways] line number + 1, in LRU order in each set; 0 is a
                       free place */
    uint64_t sets, mask; /* mask: sets - 1 when that is a power of two, else 0 */
    uint32_t ways;       /* 0: there is no such cache */
};

/* Made in one piece of memory, but for the private caches of later cores. */
struct cachesim {
    struct cache l1, l2, llc; /* l1 and l2 of the core that refers now */
    struct cachesim_recent recent;
    uint32_t sample;
    struct cachesim_counts counts;
    void *(*alloc)(size_t);
    uint64_t *core[CACHESIM_CORES_MAX]; /* its L1 and its L2 */
    uint64_t memory[];                  /* `recent`, the caches of core 0, the LLC */
};

#endif
