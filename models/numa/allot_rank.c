/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_rank - which of several optima comes first: the one with fewer nodes in use, of those the
 * one whose cores have the more even bandwidth, of those the one on lower nodes.
 *
 * What a core gets is what it gets where a memory that is asked for more than it has serves
 * everyone by the same fraction: NuMem's optimum leaves open who goes short. Links are left out: a
 * core that a link keeps from its data is not in the optimum but for a part of its bandwidth. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/allot_impl.h"

#define EVEN 1e-9 /* spreads that are nearer than that are the same */

static int by_room(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x < y) - (x > y);
}

/* Returns what the flow's cores ask for. */
static double asked_of(const struct flow *flow, const unsigned *cores)
{
    return flow->read * cores[flow->to] + flow->write * cores[flow->from];
}

static double demand_of(const struct allot *a, const unsigned *allocation, size_t cell)
{
    size_t i = cell % a->nodes;

    return flows_in(a->flows, i)
               ? a->flows->program[cell / a->nodes]->local_demand[i][allocation[cell]]
               : 0;
}

/* share[i]: the part of what is asked of node i's memory that it gives. */
static void find_shares(struct allot *a, const unsigned *allocation)
{
    const struct flows *f = a->flows;

    memset(a->share, 0, a->nodes * sizeof(*a->share));
    for (size_t cell = 0; cell < a->cells; cell++)
        a->share[cell % a->nodes] += demand_of(a, allocation, cell);
    for (size_t k = 0; k < f->flows; k++)
        a->share[f->flow[k].from] +=
            asked_of(&f->flow[k], &allocation[f->flow[k].program * a->nodes]);
    for (size_t i = 0; i < a->nodes; i++)
        a->share[i] = a->share[i] > f->machine->alpha[i] ? f->machine->alpha[i] / a->share[i] : 1;
}

/* local[cell]: what the cell's cores get, together. Reads are those of the node that they go to,
 * writes those of the node that they come from. */
static void find_served(struct allot *a, const unsigned *allocation)
{
    const struct flows *f = a->flows;

    for (size_t cell = 0; cell < a->cells; cell++)
        a->local[cell] = demand_of(a, allocation, cell) * a->share[cell % a->nodes];
    for (size_t k = 0; k < f->flows; k++) {
        const struct flow *flow = &f->flow[k];
        size_t from = flow->program * a->nodes + flow->from;
        size_t to = flow->program * a->nodes + flow->to;

        a->local[to] += flow->read * allocation[to] * a->share[flow->from];
        a->local[from] += flow->write * allocation[from] * a->share[flow->from];
    }
}

/* Returns how much slower the program's slowest core is than its fastest, as a fraction. */
static double spread_of(const struct allot *a, const unsigned *allocation, size_t program)
{
    double least = INFINITY, most = 0;

    for (size_t cell = program * a->nodes; cell < (program + 1) * a->nodes; cell++)
        if (allocation[cell] > 0) {
            least = fmin(least, a->local[cell] / allocation[cell]);
            most = fmax(most, a->local[cell] / allocation[cell]);
        }
    return most > 0 ? 1 - least / most : 0;
}

size_t allot_nodes(const struct allot *a, const unsigned *allocation)
{
    size_t nodes = 0;

    for (size_t cell = 0; cell < a->cells; cell++)
        nodes += allocation[cell] > 0;
    return nodes;
}

double allot_spread(struct allot *a, const unsigned *allocation)
{
    double spread = 0;

    find_shares(a, allocation);
    find_served(a, allocation);
    for (size_t p = 0; p < a->programs; p++)
        spread += spread_of(a, allocation, p);
    return spread;
}

static bool allot_is_even(const struct allot *a)
{
    return a->rank.spread <= EVEN;
}

/* Returns whether the first cell that differs has more cores than in the best. */
static bool rises(const struct allot *a, const unsigned *allocation)
{
    const unsigned *best = a->best->allocation;
    size_t cell = 0;

    while (cell < a->cells && allocation[cell] == best[cell])
        cell++;
    return cell < a->cells && allocation[cell] > best[cell];
}

bool allot_precedes(struct allot *a, const unsigned *allocation, struct rank *rank)
{
    rank->nodes = allot_nodes(a, allocation);
    rank->spread = a->rank.spread;
    if (rank->nodes > a->rank.nodes)
        return false;
    rank->spread = allot_spread(a, allocation);
    if (rank->nodes < a->rank.nodes || rank->spread < a->rank.spread - EVEN)
        return true;
    return rank->spread <= a->rank.spread + EVEN && rises(a, allocation);
}

bool allot_may_precede(const struct allot *a, const unsigned *cores, size_t cell, size_t nodes)
{
    const unsigned *best = a->best->allocation;

    if (nodes != a->rank.nodes || !allot_is_even(a))
        return nodes <= a->rank.nodes;
    for (size_t i = 0; i <= cell; i++)
        if (cores[i] != best[i])
            return cores[i] > best[i];
    return true;
}

/* Returns how many cells of the program, in this box, have cores at least: as many as the sum of
 * its cores needs. */
static size_t least_nodes(const struct allot *a, const struct box *box, size_t program)
{
    unsigned room[NUMEM_NODES_MAX];
    size_t used = 0, free = 0;
    double sum = 0;

    for (size_t cell = program * a->nodes; cell < (program + 1) * a->nodes; cell++) {
        unsigned most = allot_count(a, cell, box->hi[cell]);

        if (allot_count(a, cell, box->lo[cell]) == 0)
            room[free++] = most;
        else {
            used++;
            sum += most;
        }
    }
    qsort(room, free, sizeof(*room), by_room);
    for (size_t k = 0; k < free && room[k] > 0 && sum < a->fewest[program]; k++, used++)
        sum += room[k];
    return used;
}

/* Takes from the box what has fewer cores in the first cell that differs from the best. Returns
 * false where nothing is left. */
static bool keep_rises(const struct allot *a, struct box *box)
{
    for (size_t cell = 0; cell < a->cells; cell++) {
        unsigned best = a->best->allocation[cell];

        while (box->lo[cell] < box->hi[cell] && allot_count(a, cell, box->lo[cell]) < best)
            box->lo[cell]++;
        if (allot_count(a, cell, box->lo[cell]) > best)
            return true;
        if (allot_count(a, cell, box->lo[cell]) < best)
            return false;
        if (box->lo[cell] < box->hi[cell])
            return true;
    }
    return false;
}

bool allot_is_outranked(const struct allot *a, struct box *box)
{
    size_t nodes = 0;

    for (size_t p = 0; p < a->programs; p++)
        nodes += least_nodes(a, box, p);
    if (nodes != a->rank.nodes || !allot_is_even(a))
        return nodes > a->rank.nodes;
    return !keep_rises(a, box);
}
