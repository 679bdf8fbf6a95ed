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
    size_t flows;
    struct flow *flow; /* sorted by program, from, to */
    size_t links;      /* those that can be the limit */
    struct flow_link *link;
    size_t *member;      /* the links' flows */
    struct flows_lp *lp; /* made when it is needed */
};

/* Finds the flows of the programs. The arguments stay the caller's, and must stay. Returns NULL
 * with errno ENOMEM. */
struct flows *flows_new(const struct numem_machine *machine,
                        const struct numem_program *const *program, size_t programs);
void flows_free(struct flows *flows);

/* Returns what the flow is at most with that many cores on its two nodes. */
static inline double flow_cap(const struct flow *flow, double cores_from, double cores_to)
{
    return fmin(flow->max, flow->read * cores_to + flow->write * cores_from);
}

#define FLOWS_SHORT 1e4 /* what a GB/s below a floor costs, of the greatest gain */

/* What to look for: the greatest sum of gain[program] * bandwidth[program] (gain NULL: 1). A
 * program that gets less than floor[program] (NULL: 0) costs far more than it could gain elsewhere;
 * floors are for several programs. Where the sum is not above `above` (-INFINITY: everything is),
 * it is not wanted. stop (NULL: never) ends it without a result. The first aim holds for the flows,
 * but for `above`. */
struct flows_aim {
    const double *gain, *floor;
    double above;
    bool (*stop)(void *stop_arg);
    void *stop_arg;
};

/* Finds the best traffic for these cores (allocation: of each cell): local of each cell, amount of
 * each flow. Where several are as good, a single program's own cores come first. Returns 0; 1:
 * there is none (eq. 5.7; it is not wanted; or it was stopped); -1: errno ENOMEM. */
int flows_solve(struct flows *flows, const unsigned *allocation, const struct flows_aim *aim,
                double *local, double *amount);

/* Returns what a GB/s costs that a program is below its floor. */
static inline double flows_short(const struct flows *flows, const struct flows_aim *aim)
{
    double most = 0;

    for (size_t p = 0; p < flows->programs; p++)
        most = fmax(most, aim->gain ? aim->gain[p] : 1);
    return FLOWS_SHORT * most;
}

/* Returns what that traffic is worth by the aim: gains, less what floors cost that are not met. */
double flows_worth(const struct flows *flows, const struct flows_aim *aim, const double *local,
                   const double *amount);

/* Returns what a program gets of that traffic, GB/s. */
double flows_bandwidth(const struct flows *flows, size_t program, const double *local,
                       const double *amount);

#endif
