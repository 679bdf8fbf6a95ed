/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flows - the traffic between the nodes of a machine: who sends to whom, over which links, and how
 * much of it there is when every program has its cores (Wang 2015, section 5.3).
 *
 * A flow is the traffic of one program from one node's memory to another node; its reads and its
 * writes are limited by the same constraints, so they are one quantity. In GB/s; a cell is a
 * program on a node: program * nodes + node. */
#ifndef BERTH_MODELS_NUMA_FLOWS_H
#define BERTH_MODELS_NUMA_FLOWS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "models/numa/numem.h"

struct flow {
    size_t program, from, to;
    double read, write; /* for each core of node `to`, of node `from` */
    double max;         /* links and cores allow no more */
};

/* The flows flow[0..flows-1] together are at most that. */
struct flow_link {
    double max;
    size_t flows;
    const size_t *flow;
};

struct flows {
    const struct numem_machine *machine;
    const struct numem_program *const *program;
    size_t programs;
    const bool *in; /* nodes that are looked at; NULL: all */
    size_t flows;
    struct flow *flow; /* sorted by program, from, to */
    size_t links;      /* those that can be the limit */
    struct flow_link *link;
    size_t *member;      /* the links' flows */
    struct flows_lp *lp; /* made when it is needed */
};

/* Finds the flows of the programs; `in` (NULL: all nodes) says which nodes are looked at: none of
 * them has traffic with another one. The arguments stay the caller's, and must stay. Returns NULL
 * with errno ENOMEM. */
struct flows *flows_new(const struct numem_machine *machine,
                        const struct numem_program *const *program, size_t programs,
                        const bool *in);
void flows_free(struct flows *flows);

static inline bool flows_in(const struct flows *flows, size_t node)
{
    return !flows->in || flows->in[node];
}

/* Returns what the flow is at most with that many cores on its two nodes. */
static inline double flow_cap(const struct flow *flow, double cores_from, double cores_to)
{
    return fmin(flow->max, flow->read * cores_to + flow->write * cores_from);
}

/* What to look for: the greatest sum of gain[program] * bandwidth[program], no program's below
 * floor[program]. NULL: 1, and 0. Where that is not above `above` (0: everything is), it is not
 * wanted. stop (NULL: never) ends it without a result. */
struct flows_aim {
    const double *gain, *floor;
    double above;
    bool (*stop)(void *stop_arg);
    void *stop_arg;
};

/* Finds the best traffic for these cores (allocation: of each cell; nodes that are not looked at
 * are skipped): local of each cell, amount of each flow. Where several are as good, a node's own
 * cores come first. Returns 0; 1: there is none (eq. 5.7, or a floor; it is not wanted; or it was
 * stopped); -1: errno ENOMEM. */
int flows_solve(struct flows *flows, const unsigned *allocation, const struct flows_aim *aim,
                double *local, double *amount);

#endif
