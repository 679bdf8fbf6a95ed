/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_choose - which node a piece comes to; see cluster_sim.h */
#include <math.h>

#include "models/placing/steer.h"
#include "tests/bench/cluster_sim.h"
#include "tests/bench/day_random.h"

enum { LOT_NODE = 30, LOT_KNOWN, LOT_LEVEL };

const struct cluster_choice cluster_choice[] = {
    {"packed", CLUSTER_PACKED, false, 0},
    {"spread", CLUSTER_SPREAD, false, 0},
    {"lot", CLUSTER_LOT, false, 0},
    {"weight", CLUSTER_WEIGHT, false, 0},
    {"complement", CLUSTER_COMPLEMENT, false, 0},
    {"knows", CLUSTER_KNOWS, false, 0},
    {"lot+packed", CLUSTER_LOT, true, 0},
    {"weight+packed", CLUSTER_WEIGHT, true, 0},
    {"complement+packed", CLUSTER_COMPLEMENT, true, 0},
    {"knows+packed", CLUSTER_KNOWS, true, 0},
    {"used", CLUSTER_STEER, false, BY_EMPTY},
    {"lots", CLUSTER_STEER, false, BY_EMPTY | BY_LEVELS | BY_LOT},
    {"levels", CLUSTER_STEER, false, BY_EMPTY | BY_LEVELS},
    {"heavy", CLUSTER_STEER, false, BY_EMPTY | BY_HEAVY},
    {"classes", CLUSTER_STEER, false, BY_EMPTY | BY_HEAVY | BY_LIGHT},
    {"levels+heavy", CLUSTER_STEER, false, BY_EMPTY | BY_LEVELS | BY_HEAVY},
    {"used+lln", CLUSTER_STEER, false, BY_EMPTY | BY_LLN},
    {"lots+lln", CLUSTER_STEER, false, BY_EMPTY | BY_LEVELS | BY_LOT | BY_LLN},
    {"levels+lln", CLUSTER_STEER, false, BY_EMPTY | BY_LEVELS | BY_LLN},
    {"heavy+lln", CLUSTER_STEER, false, BY_EMPTY | BY_HEAVY | BY_LLN},
};
const size_t cluster_choices = sizeof(cluster_choice) / sizeof(*cluster_choice);

static void weigh_all(struct cluster_sim *sim)
{
    double at_s = floor(sim->now_s / CLUSTER_WEIGHED_S) * CLUSTER_WEIGHED_S;

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
    case CLUSTER_STEER:
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

/* ---- from beside Slurm ---- */

/* Returns the traffic of a node that is full of the heaviest program: what a machine profile has.
 */
static double roof(const struct cluster_sim *sim)
{
    const struct ctl_apps *apps = &sim->machine->truth->truth->apps;
    double most = 0;

    for (size_t i = 0; i < apps->n; i++)
        most = fmax(most, apps->app[i].mem_gbps / (double)apps->app[i].cores);
    return most * (double)sim->machine->topo->cores;
}

static int level_told(const struct cluster_sim *sim, size_t at, double most, double at_s)
{
    const struct cluster_node *node = &sim->machine->node[at];
    uint64_t seed = day_random_seed(sim->seed + at, LOT_LEVEL, (uint64_t)at_s);

    if (node->n == 0)
        return STEER_FINE;
    return sim->choice->steer & BY_LOT ? (int)(day_random(&seed) * STEER_FINE)
                                       : steer_level(node->weight / most, node->level, STEER_FINE);
}

void cluster_steer(struct cluster_sim *sim, double at_s)
{
    double all = 0, used = 0, most = roof(sim);

    for (size_t i = 0; i < sim->machine->n; i++) {
        struct cluster_node *node = &sim->machine->node[i];

        cluster_node_weigh(sim->machine, i, &sim->noise, sim->seed, at_s);
        node->level = level_told(sim, i, most, at_s);
        all += node->n > 0 ? node->weight : 0;
        used += node->n > 0;
    }
    for (size_t i = 0; i < sim->machine->n; i++) {
        struct cluster_node *node = &sim->machine->node[i];

        node->quiet = node->n > 0 && node->weight * used <= all;
        node->busy = node->n > 0 && !node->quiet;
    }
}

/* Returns what a job prefers: -1 quiet nodes, 1 busy ones, 0 what Slurm does. Its class is its
 * program's, as somebody counted it: heavy is more than the mean core of all programs. */
static int prefers(const struct cluster_sim *sim, size_t at)
{
    const struct cluster_job *job = &sim->work->job[sim->work->piece[at].job];
    const struct ctl_apps *apps = &sim->machine->guess->truth->apps;
    const struct app *app = &apps->app[job->kind];
    uint64_t seed = day_random_seed(sim->seed, LOT_KNOWN, sim->work->piece[at].job);
    double mean = 0;

    if (day_random(&seed) >= sim->known)
        return 0;
    for (size_t i = 0; i < apps->n; i++)
        mean += apps->app[i].mem_gbps / (double)apps->app[i].cores / (double)apps->n;
    if (app->mem_gbps / (double)app->cores > mean)
        return sim->choice->steer & BY_HEAVY ? -1 : 0;
    return sim->choice->steer & BY_LIGHT ? 1 : 0;
}

static bool has_feature(const struct cluster_node *node, int prefer)
{
    return prefer == 0 || (prefer < 0 ? node->quiet : node->busy);
}

/* Returns what Slurm takes least of: the weight, and with LLN the load. */
static double rank(const struct cluster_sim *sim, const struct cluster_node *node)
{
    bool weighs = sim->choice->steer & BY_LEVELS || node->level == STEER_FINE;
    double load = 1 - (double)node->free / (double)(sim->machine->topo->cores + 1);

    return (weighs ? node->level : 0) + (sim->choice->steer & BY_LLN ? load : 0);
}

/* Returns the first of the least rank that has what is preferred, and room. */
static size_t least_rank(const struct cluster_sim *sim, const struct cluster_piece *piece,
                         bool spare, int prefer)
{
    size_t found = CLUSTER_NOBODY;
    double least = INFINITY;

    for (size_t i = 0; i < sim->machine->n; i++) {
        const struct cluster_node *node = &sim->machine->node[i];

        if (!fits(sim, i, piece, spare) || !has_feature(node, prefer) || rank(sim, node) >= least)
            continue;
        least = rank(sim, node);
        found = i;
    }
    return found;
}

static size_t steered(const struct cluster_sim *sim, size_t at, bool spare)
{
    const struct cluster_piece *piece = &sim->work->piece[at];
    size_t found = least_rank(sim, piece, spare, prefers(sim, at));

    return found == CLUSTER_NOBODY ? least_rank(sim, piece, spare, 0) : found;
}

/* ---- which node ---- */

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
    if (sim->choice->by == CLUSTER_STEER)
        return steered(sim, at, spare);
    of = count(sim, piece, spare);
    if (of.room == 0)
        return CLUSTER_NOBODY;
    if (sim->choice->by == CLUSTER_WEIGHT)
        weigh_all(sim);
    others = sim->choice->packed && of.others > 0;
    return sim->choice->by == CLUSTER_LOT ? draw(sim, at, &of, spare, others)
                                          : best(sim, at, &of, spare, others);
}
