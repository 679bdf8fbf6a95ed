/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_choose - which node a piece comes to; see cluster_sim.h */
#include <math.h>

#include "tests/bench/cluster_sim.h"
#include "tests/bench/day_random.h"

#define WEIGHED_S 30 /* a node's weight is that old at most */

enum { LOT_NODE = 30 };

const struct cluster_choice cluster_choice[] = {
    {"packed", CLUSTER_PACKED, false},
    {"spread", CLUSTER_SPREAD, false},
    {"lot", CLUSTER_LOT, false},
    {"weight", CLUSTER_WEIGHT, false},
    {"complement", CLUSTER_COMPLEMENT, false},
    {"knows", CLUSTER_KNOWS, false},
    {"lot+packed", CLUSTER_LOT, true},
    {"weight+packed", CLUSTER_WEIGHT, true},
    {"complement+packed", CLUSTER_COMPLEMENT, true},
    {"knows+packed", CLUSTER_KNOWS, true},
};
const size_t cluster_choices = sizeof(cluster_choice) / sizeof(*cluster_choice);

static void weigh_all(struct cluster_sim *sim)
{
    double at_s = floor(sim->now_s / WEIGHED_S) * WEIGHED_S;

    if (at_s == sim->weighed_s)
        return;
    sim->weighed_s = at_s;
    for (size_t i = 0; i < sim->machine->n; i++)
        cluster_node_weigh(sim->machine, i, &sim->noise, sim->seed, sim->now_s);
}

static bool fits(const struct cluster_sim *sim, size_t node, const struct cluster_piece *piece,
                 bool spare)
{
    return sim->machine->node[node].free >= piece->cores && sim->marked[node] != piece->job + 1 &&
           (!spare || sim->spare[node] >= piece->cores);
}

/* Those that may be taken. */
struct candidates {
    size_t room, empty; /* how many have room; of these, the first empty node */
    size_t others;      /* that are not empty */
};

static struct candidates count(const struct cluster_sim *sim, const struct cluster_piece *piece,
                               bool spare)
{
    struct candidates of = {.empty = CLUSTER_NOBODY};

    for (size_t i = 0; i < sim->machine->n; i++) {
        if (!fits(sim, i, piece, spare))
            continue;
        of.room++;
        of.others += sim->machine->node[i].n > 0;
        if (sim->machine->node[i].n == 0 && of.empty == CLUSTER_NOBODY)
            of.empty = i;
    }
    return of;
}

/* Returns less for the better; what is looked at one by one is no less than NAN: not looked at. */
static double score(struct cluster_sim *sim, size_t node, size_t piece)
{
    switch (sim->choice->by) {
    case CLUSTER_SPREAD:
        return -(double)sim->machine->node[node].free;
    case CLUSTER_WEIGHT:
        return sim->machine->node[node].weight;
    case CLUSTER_COMPLEMENT:
    case CLUSTER_KNOWS:
        return cluster_node_cost(sim->machine, node, piece, sim->choice->by == CLUSTER_KNOWS);
    case CLUSTER_PACKED:
    case CLUSTER_LOT:
        break;
    }
    return 0;
}

/* Returns a node by lot of those that have room. */
static size_t draw(const struct cluster_sim *sim, size_t at, const struct candidates *of,
                   bool spare, bool others)
{
    const struct cluster_piece *piece = &sim->work->piece[at];
    uint64_t seed = day_random_seed(sim->seed, LOT_NODE, at);
    size_t which = (size_t)(day_random(&seed) * (double)(others ? of->others : of->room));

    for (size_t i = 0; i < sim->machine->n; i++)
        if (fits(sim, i, piece, spare) && (!others || sim->machine->node[i].n > 0) && which-- == 0)
            return i;
    return of->empty;
}

/* Returns the best: of all, or where each is looked at, of `look` of them by lot and of one that is
 * empty (all of these are alike). */
static size_t best(struct cluster_sim *sim, size_t at, const struct candidates *of, bool spare,
                   bool others)
{
    bool looks = sim->choice->by == CLUSTER_COMPLEMENT || sim->choice->by == CLUSTER_KNOWS;
    const struct cluster_piece *piece = &sim->work->piece[at];
    uint64_t seed = day_random_seed(sim->seed, LOT_NODE, at);
    size_t found = CLUSTER_NOBODY, left = of->others, wanted = sim->look;
    double least = INFINITY;

    for (size_t i = 0; i < sim->machine->n; i++) {
        bool empty = sim->machine->node[i].n == 0;
        double each;

        if (!fits(sim, i, piece, spare) || (empty && (others || (looks && i != of->empty))))
            continue;
        if (looks && !empty && day_random(&seed) * (double)left-- >= (double)wanted)
            continue;
        wanted -= looks && !empty;
        each = score(sim, i, at);
        if (each < least) {
            least = each;
            found = i;
        }
    }
    return found;
}

size_t cluster_choose(struct cluster_sim *sim, size_t at, bool spare)
{
    const struct cluster_piece *piece = &sim->work->piece[at];
    bool whole = piece->cores == sim->machine->topo->cores, others;
    struct candidates of;

    if (whole || sim->choice->by == CLUSTER_PACKED) {
        for (size_t i = 0; i < sim->machine->n; i++)
            if (fits(sim, i, piece, spare))
                return i;
        return CLUSTER_NOBODY;
    }
    of = count(sim, piece, spare);
    if (of.room == 0)
        return CLUSTER_NOBODY;
    if (sim->choice->by == CLUSTER_WEIGHT)
        weigh_all(sim);
    others = sim->choice->packed && of.others > 0;
    return sim->choice->by == CLUSTER_LOT ? draw(sim, at, &of, spare, others)
                                          : best(sim, at, &of, spare, others);
}
