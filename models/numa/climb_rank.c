/* SPDX-License-Identifier: GPL-2.0-or-later */
/* climb_rank - which of several optima comes first: the one with fewer nodes in use, of those the
 * one whose cores have the more even bandwidth, of those the one on lower nodes.
 *
 * What a core gets is what it gets where a memory that is asked for more than it has serves
 * everyone by the same fraction: NuMem's optimum leaves open who goes short. Links are left out: a
 * core that a link keeps from its data is not in the optimum but for a part of its bandwidth. */
#include <math.h>

#include "models/numa/climb.h"

#define EVEN 1e-9 /* spreads that are nearer than that are the same */

static double demand_of(const struct flows *f, const unsigned *allocation, size_t p, size_t i)
{
    return f->program[p]->local_demand[i][allocation[p * f->machine->nodes + i]];
}

/* Fills in share[i]: the part of what is asked of node i's memory that it gives. */
static void find_shares(const struct flows *f, const unsigned *allocation, double *share)
{
    size_t n = f->machine->nodes;

    for (size_t i = 0; i < n; i++) {
        share[i] = 0;
        for (size_t p = 0; p < f->programs; p++)
            share[i] += demand_of(f, allocation, p, i);
    }
    for (size_t k = 0; k < f->flows; k++) {
        const struct flow *flow = &f->flow[k];
        const unsigned *cores = &allocation[flow->program * n];

        share[flow->from] += flow->read * cores[flow->to] + flow->write * cores[flow->from];
    }
    for (size_t i = 0; i < n; i++)
        share[i] = share[i] > f->machine->alpha[i] ? f->machine->alpha[i] / share[i] : 1;
}

/* Fills in served[i]: what the program's cores on node i get together. Reads are those of the node
 * that they go to, writes those of the node that they come from. */
static void find_served(const struct flows *f, size_t p, const unsigned *allocation,
                        const double *share, double *served)
{
    const unsigned *cores = &allocation[p * f->machine->nodes];

    for (size_t i = 0; i < f->machine->nodes; i++)
        served[i] = demand_of(f, allocation, p, i) * share[i];
    for (size_t k = 0; k < f->flows; k++) {
        const struct flow *flow = &f->flow[k];

        if (flow->program != p)
            continue;
        served[flow->to] += flow->read * cores[flow->to] * share[flow->from];
        served[flow->from] += flow->write * cores[flow->from] * share[flow->from];
    }
}

struct rank rank_of(const struct flows *f, const unsigned *allocation)
{
    double share[NUMEM_NODES_MAX], served[NUMEM_NODES_MAX];
    struct rank rank = {0};

    find_shares(f, allocation, share);
    for (size_t p = 0; p < f->programs; p++) {
        const unsigned *cores = &allocation[p * f->machine->nodes];
        double least = INFINITY, most = 0;

        find_served(f, p, allocation, share, served);
        for (size_t i = 0; i < f->machine->nodes; i++)
            if (cores[i] > 0) {
                least = fmin(least, served[i] / cores[i]);
                most = fmax(most, served[i] / cores[i]);
                rank.nodes++;
            }
        rank.spread += most > 0 ? 1 - least / most : 0;
    }
    return rank;
}

bool rank_precedes(const struct climb *c, const struct rank *rank, const unsigned *allocation,
                   const struct rank *other, const unsigned *than)
{
    size_t cell = 0;

    if (rank->nodes != other->nodes)
        return rank->nodes < other->nodes;
    if (fabs(rank->spread - other->spread) > EVEN)
        return rank->spread < other->spread;
    while (cell < c->cells && allocation[cell] == than[cell])
        cell++;
    return cell < c->cells && allocation[cell] > than[cell];
}
