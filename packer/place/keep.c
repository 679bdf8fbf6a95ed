/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place_keep - see place/keep.h */
#include "packer/place/keep.h"

#include <math.h>

/* Are the unit's cores, where they stand now, in the same caches as the targets? */
static bool stands_there(const struct packer *packer, const struct pool *pool, const size_t *from,
                         const size_t *target, size_t count)
{
    const struct topo_core *core = packer->topo->core;

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
    const size_t *from = units->from;
    size_t *to = units->to, u_at = 0;

    for (size_t u = 0; u < units->n; u_at += units->unit[u++].cores) {
        size_t count = units->unit[u].cores, v_at = 0;

        if (units->isolated[u] || stands_there(packer, pool, from + u_at, to + u_at, count))
            continue;
        for (size_t v = 0; v < units->n; v_at += units->unit[v++].cores)
            if (!units->isolated[v] && units->packed[v] == units->packed[u] &&
                units->unit[v].cores == count &&
                units->unit[v].miss_pmi == units->unit[u].miss_pmi &&
                stands_there(packer, pool, from + u_at, to + v_at, count) &&
                !stands_there(packer, pool, from + v_at, to + v_at, count)) {
                swap_targets(to + u_at, to + v_at, count);
                break;
            }
    }
}

/* Does the memory policy of the unit's step let it stand on these cores? */
static bool may_stand(const struct packer *packer, const struct step *step, const size_t *target,
                      size_t count)
{
    struct cpus cpus = {0}, nodes;

    for (size_t i = 0; i < count; i++)
        cpus_or(&cpus, &packer->topo->core[target[i]].cpus);
    topo_nodes_of(packer->topo, &cpus, &nodes);
    return step_may_use(step, &nodes);
}

/* The unit of u's size that is nearest to it in rate, and with which it can exchange targets: where
 * its cores begin. UNITS_NONE: there is none. */
static size_t partner(const struct packer *packer, const struct units *units, size_t u, size_t u_at)
{
    size_t count = units->unit[u].cores, best = UNITS_NONE, v_at = 0;
    double best_off = INFINITY;

    for (size_t v = 0; v < units->n; v_at += units->unit[v++].cores) {
        double off = fabs(units->unit[v].miss_pmi - units->unit[u].miss_pmi);

        if (v == u || units->unit[v].cores != count || off >= best_off ||
            !may_stand(packer, units->first[u], units->to + v_at, count) ||
            !may_stand(packer, units->first[v], units->to + u_at, count))
            continue;
        best = v_at;
        best_off = off;
    }
    return best;
}

bool keep_bound(const struct packer *packer, struct units *units)
{
    size_t u_at = 0;

    for (size_t u = 0; u < units->n; u_at += units->unit[u++].cores) {
        size_t count = units->unit[u].cores, v_at;

        if (may_stand(packer, units->first[u], units->to + u_at, count))
            continue;
        v_at = partner(packer, units, u, u_at);
        if (v_at == UNITS_NONE)
            return false;
        swap_targets(units->to + u_at, units->to + v_at, count);
    }
    return true;
}

/* Cores of one cache are equal: who stands in the right cache already keeps his core there, and who
 * was meant to get that core gets the one he was meant for. */
static void keep_within_cache(const struct packer *packer, const struct pool *pool,
                              struct units *units)
{
    const struct topo_core *core = packer->topo->core;
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
    const struct topo_core *core = packer->topo->core;

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
    size_t start = 0;

    for (size_t u = 0; u < units->n; start += units->unit[u++].cores)
        match_own(packer, pool, units, start, units->unit[u].cores);
    keep_within_cache(packer, pool, units);
}
