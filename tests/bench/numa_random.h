/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_random - NUMA machines and programs made from a seed, for tests and benchmarks of NuMem and
 * NuCore: the same on every run and every machine. */
#ifndef BERTH_NUMA_RANDOM_H
#define BERTH_NUMA_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "models/numa/nucore.h"

enum numa_traffic {
    NUMA_SHARED,  /* all data on node 0 */
    NUMA_RING,    /* local data, and some of the next node's */
    NUMA_PARTIAL, /* local data, and some on node 0 */
    NUMA_DENSE,   /* every node reads from and writes to every other one */
    NUMA_TRAFFICS
};
extern const char *const numa_traffic_name[NUMA_TRAFFICS];

struct numa_wish {
    enum numa_traffic traffic;
    size_t nodes;
    unsigned cores;
    bool asymmetric; /* links that are not the same both ways */
    bool hops;       /* a ring of links: other pairs are several hops apart */
    bool uneven;     /* tables of local demand that are neither concave nor ascending */
    bool even;       /* equal nodes: many optima */
    bool alike;      /* the same, and equal rates, as on a real machine: they depend on the seed */
    bool roof;       /* soft roofs, which end 2 % below their last value */
    uint64_t seed;
};

struct numa {
    struct numem_machine machine;
    struct nucore_program program;
    double *numbers; /* all matrices */
    double **demand;
    unsigned *cores;
    struct numem_route *route;
    size_t (*hop)[2];
};

/* Exits where there is no memory. */
void numa_make(struct numa *numa, const struct numa_wish *wish);
void numa_free(struct numa *numa);

uint64_t numa_random(uint64_t *state);
double numa_fraction(uint64_t *state); /* 0 <= x < 1 */

#endif
