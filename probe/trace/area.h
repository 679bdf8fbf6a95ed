/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracer_area - the memory that berthctl and the processes it traces share, a file that all map.
 *
 * Each process adds what it counted since it last did, so the totals outlive it, whatever ends it,
 * and any number of processes take no more room. The numbers that several write are changed by
 * atomic operations. */
#ifndef BERTH_PROBE_TRACE_AREA_H
#define BERTH_PROBE_TRACE_AREA_H

#include <stdint.h>

#include "probe/trace/cachesim.h"

#define TRACER_AREA_VERSION 2
#define TRACER_AREA_BATCH 65536 /* references that a process takes on at a time */

struct tracer_seen {
    uint64_t instructions;
    struct cachesim_counts counts;
    struct dramsim_counts dram; /* where a memory is simulated */
};

#define TRACER_SEEN_WORDS (sizeof(struct tracer_seen) / sizeof(uint64_t))

struct tracer_area {
    uint32_t version, size; /* size: sizeof(struct tracer_area) */
    struct cachesim_geometry geometry;
    struct dramsim_geometry dram; /* channels 0: no memory is simulated */
    uint64_t limit;               /* references of all processes */
    uint64_t skip;                /* of them, how many warm the caches; lowered while they run */
    uint64_t claimed;             /* references that processes have taken on */
    uint32_t exhausted;           /* 1: one asked for more than the limit leaves */
    uint32_t processes;           /* program images that were begun */
    struct tracer_seen total[2];  /* [0] while the caches warmed, [1] afterwards */
};

#endif
