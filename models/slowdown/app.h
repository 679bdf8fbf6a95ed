/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app - what is known of a program alone, and of the machine: the input of the models of who should
 * share a cache.
 *
 * Figures that are not known are NAN, parts of a profile that are not known have no ways; each
 * model says what it cannot do without. */
#ifndef BERTH_MODELS_SLOWDOWN_APP_H
#define BERTH_MODELS_SLOWDOWN_APP_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "models/slowdown/clock.h"

/* Stack-distance profile of an LRU cache (Blagodurov 2010, section 2): per million instructions.
 * Not known: ways 0. */
struct app_sdp {
    size_t ways;
    const double *hits; /* [ways] by LRU position, [0] the most recently used; owned by whoever made
                           the app */
    double misses;
};

/* What is insisted on for the cores of a program. */
enum app_threads { APP_MODEL, APP_SPREAD, APP_PACK, APP_THREADS };

struct app {
    double ipc;             /* instructions per cycle */
    double clock_ghz;       /* at which the figures were counted; 0, too: not known */
    double llc_apki;        /* LLC accesses per 1000 instructions, all kinds */
    double llc_mpki;        /* LLC misses per 1000 instructions, all kinds (prefetches included) */
    double llc_demand_mpki; /* of these, those that a load or store waits for */
    double llc_wb_apki;     /* write-backs that reach the LLC, per 1000 instructions */
    double mem_gbps;        /* memory traffic, 1e9 bytes/s */
    double mem_read_gbps, mem_write_gbps;
    double shared; /* of several cores: the part of its hits that are on lines which another of its
                      threads has brought */
    enum app_threads threads;
    size_t cores;
    struct app_sdp sdp, sdp_demand, sdp_prefetch, sdp_writeback; /* all accesses, and its parts */
};

/* A program of one core of which nothing is known. */
static inline struct app app_unknown(void)
{
    return (struct app){.ipc = NAN,
                        .clock_ghz = NAN,
                        .llc_apki = NAN,
                        .llc_mpki = NAN,
                        .llc_demand_mpki = NAN,
                        .llc_wb_apki = NAN,
                        .mem_gbps = NAN,
                        .mem_read_gbps = NAN,
                        .mem_write_gbps = NAN,
                        .shared = NAN,
                        .cores = 1};
}

/* Returns the part of a program's other cores that are not on the cache where `here` of its cores
 * are. A core there loses that part of its shared hits. */
static inline double app_far(size_t cores, size_t here)
{
    return cores > here ? (double)(cores - here) / (double)(cores - 1) : 0;
}

/* Returns by how much a core's footprint counts less where `here` of its program's cores are on the
 * cache: of those, 1 + (here - 1) * (1 - shared) count. */
static inline double app_crowd(double shared, size_t here)
{
    return (1 + (double)(here - 1) * (1 - shared)) / (double)here - 1;
}

struct app_machine {
    double llc_bytes, dram_gbps, clock_ghz; /* NAN: not known; dram_gbps is that of one memory node,
                                               over all its caches */
    size_t llc_ways, line_bytes;            /* 0: not known */
    size_t caches;        /* last-level caches that share a memory node; 0: not known, one */
    bool own_prefetchers; /* each core's prefetcher learns from that core alone */
    bool dram_calibrated; /* dram_gbps was measured, else it is what the memory could do by its data
                             sheet */
    double port_gbps;     /* that one of the last-level caches can draw from memory; 0 or NAN: not
                             known */
    double core_gbps;     /* that one core can read from memory; 0 or NAN: not known */
    double dram_seen_gbps; /* the most that was seen to come from one memory node; 0: nothing was */
    struct clock_curve clock; /* of each package: all zero, not known */
};

/* How two programs get on: score (less is better) and what each suffers beside the other. For
 * `contend` a_given_b is the fraction by which a slows down beside b; score is always the sum of
 * what the pair suffers. */
struct app_pair {
    double score, a_given_b, b_given_a;
};

#endif
