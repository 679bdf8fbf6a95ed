/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place_keep - see place/keep.h */
#include "packer/place/keep.h"

#include <math.h>

/* Are the unit's cores, where they stand now, in the same caches as the targets? */
static bool stands_there(const struct packer *packer, const struct pool *pool, const size_t *from,
                         const size_t *target, size_t count)
{
    const struct topo_core *core = packer->world.topo->core;

    for (size_t i = 0; i < count; i++) {
        size_t llc = core[target[i]].llc, there = 0, here = 0;

        for (size_t j = 0; j < count; j++) {
            there += core[target[j]].llc == llc;
            here += core[pool->stand[from[j]]].llc == llc;
        }
        if (here != there)
            return false;
    }
    return true;
}

static void swap_targets(size_t *a, size_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t target = a[i];

        a[i] = b[i];
        b[i] = target;
    }
}

void keep_equals(const struct packer *packer, const struct pool *pool, struct units *units)
{
    for (size_t u = 0; u < units->n; u++) {
        const size_t *from = units->from + units->at[u];
        size_t *to = units->to + units->at[u], count = units->unit[u].cores;

        if (units->isolated[u] || units->near[u] || stands_there(packer, pool, from, to, count))
            continue;
        for (size_t v = 0; v < units->n; v++) {
            size_t *other = units->to + units->at[v];

            if (!units->isolated[v] && !units->near[v] && units->packed[v] == units->packed[u] &&
                units->apart[v] == units->apart[u] && units->unit[v].cores == count &&
                units->unit[v].miss_pmi == units->unit[u].miss_pmi &&
                stands_there(packer, pool, from, other, count) &&
                !stands_there(packer, pool, units->from + units->at[v], other, count)) {
                swap_targets(to, other, count);
                break;
            }
        }
    }
}

/* Does the memory policy of unit u's step let it stand where unit v is meant to? */
static bool may_stand(const struct packer *packer, const struct units *units, size_t u, size_t v)
{
    const size_t *target = units->to + units->at[v];
    struct cpus cpus = {0}, nodes;

    for (size_t i = 0; i < units->unit[u].cores; i++)
        cpus_or(&cpus, &packer->world.topo->core[target[i]].cpus);
    topo_nodes_of(packer->world.topo, &cpus, &nodes);
    return step_may_use(units->first[u], &nodes);
}

/* Finds the unit of u's size that is nearest to it in rate, and with which it can exchange targets.
 * UNITS_NONE: there is none. */
static size_t partner_of(const struct packer *packer, const struct units *units, size_t u)
{
    size_t best = UNITS_NONE;
    double best_off = INFINITY;

    for (size_t v = 0; v < units->n; v++) {
        double off = fabs(units->unit[v].miss_pmi - units->unit[u].miss_pmi);

        if (v == u || units->near[v] || units->unit[v].cores != units->unit[u].cores ||
            off >= best_off || !may_stand(packer, units, u, v) || !may_stand(packer, units, v, u))
            continue;
        best = v;
        best_off = off;
    }
    return best;
}

bool keep_bound(const struct packer *packer, struct units *units)
{
    for (size_t u = 0; u < units->n; u++) {
        size_t v;

        if (units->near[u] || may_stand(packer, units, u, u))
            continue;
        v = partner_of(packer, units, u);
        if (v == UNITS_NONE)
            return false;
        swap_targets(units->to + units->at[u], units->to + units->at[v], units->unit[u].cores);
    }
    return true;
}

/* Cores of one cache are equal: who stands in the right cache already keeps his core there, and who
 * was meant to get that core gets the one he was meant for. */
static void keep_within_cache(const struct packer *packer, const struct pool *pool,
                              struct units *units)
{
    const struct topo_core *core = packer->world.topo->core;
    size_t *of_target = units->of_target, total = units->total;

    for (size_t i = 0; i < pool->cores; i++)
        of_target[i] = total;
    for (size_t i = 0; i < total; i++)
        of_target[units->to[i]] = i;
    for (size_t i = 0; i < total; i++) {
        size_t now = pool->stand[units->from[i]], meant = units->to[i], other = of_target[now];

        if (meant == now || core[meant].llc != core[now].llc)
            continue;
        if (other < total)
            units->to[other] = meant;
        of_target[meant] = other;
        of_target[now] = i;
        units->to[i] = now;
    }
}

/* A unit's cores are interchangeable: match its targets with where its cores stand now, cache by
 * cache. */
static void match_own(const struct packer *packer, const struct pool *pool, struct units *units,
                      size_t start, size_t count)
{
    const struct topo_core *core = packer->world.topo->core;

    for (size_t i = start; i < start + count; i++) {
        size_t llc = core[pool->stand[units->from[i]]].llc;

        for (size_t j = i; j < start + count && core[units->to[i]].llc != llc; j++)
            if (core[units->to[j]].llc == llc) {
                size_t swap = units->to[i];

                units->to[i] = units->to[j];
                units->to[j] = swap;
            }
    }
}

void keep_cores(const struct packer *packer, const struct pool *pool, struct units *units)
{
    for (size_t u = 0; u < units->n; u++)
        match_own(packer, pool, units, units->at[u], units->unit[u].cores);
    keep_within_cache(packer, pool, units);
}
