/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places - see places.h */
#include "probe/study/places.h"

/* Takes the first CPU of so many cores of that cache which are allowed and not in `but`. Returns
 * whether there are so many. */
static bool take_cores(const struct topo *topo, size_t llc, const struct cpus *allowed,
                       const struct cpus *but, size_t cores, struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t i = 0; i < topo->cores && cores > 0; i++) {
        struct cpus may = topo->core[i].cpus;

        cpus_and(&may, allowed);
        if (topo->core[i].llc != llc || cpus_empty(&may) ||
            cpus_intersect(&topo->core[i].cpus, but))
            continue;
        cpus_add(cpus, cpus_next(&may, 0));
        cores--;
    }
    return cores == 0;
}

/* Finds another cache with room, in the package or not in it. */
static bool take_other(const struct topo *topo, size_t llc, bool same_package,
                       const struct cpus *allowed, size_t cores, struct cpus *cpus)
{
    struct cpus none;

    cpus_zero(&none);
    for (size_t i = 0; i < topo->llcs; i++)
        if (i != llc && (topo->llc[i].package == topo->llc[llc].package) == same_package &&
            take_cores(topo, i, allowed, &none, cores, cpus))
            return true;
    return false;
}

static long node_of(const struct topo *topo, size_t llc)
{
    return topo->nodes > 1 ? (long)topo->node[topo->llc[llc].node].os_index : -1;
}

/* Finds another memory node. Returns -1 where there is none. */
static long other_node(const struct topo *topo, long node)
{
    for (size_t i = 0; i < topo->nodes; i++)
        if (topo->nodes > 1 && (long)topo->node[i].os_index != node)
            return (long)topo->node[i].os_index;
    return -1;
}

static void fill(struct study_places *places, const struct topo *topo, size_t llc,
                 const struct cpus *allowed, size_t cores)
{
    struct study_place *at = places->at;

    at[PARTS_FAR].cpus = at[PARTS_SAME].cpus;
    if (!take_other(topo, llc, true, allowed, cores, &at[PARTS_CACHE].cpus))
        at[PARTS_CACHE].lacks = "its package has no other cache with room";
    if (!take_other(topo, llc, false, allowed, cores, &at[PARTS_PACKAGE].cpus))
        at[PARTS_PACKAGE].lacks = "there is no other package with room";
    for (enum parts_where where = 0; where < PARTS_PLACES; where++)
        at[where].node = places->node;
    at[PARTS_FAR].node = other_node(topo, places->node);
    if (at[PARTS_FAR].node < 0)
        at[PARTS_FAR].lacks = "there is one memory node";
}

int study_places(struct study_places *places, const struct topo *topo, const struct cpus *allowed,
                 size_t cores, struct berth_error *err)
{
    struct cpus none;

    *places = (struct study_places){.node = -1};
    cpus_zero(&none);
    for (size_t llc = 0; llc < topo->llcs; llc++) {
        if (!take_cores(topo, llc, allowed, &none, cores, &places->cpus) ||
            !take_cores(topo, llc, allowed, &places->cpus, cores, &places->at[PARTS_SAME].cpus))
            continue;
        places->node = node_of(topo, llc);
        fill(places, topo, llc, allowed, cores);
        return 0;
    }
    return berth_error_set(
        err, "no cache has %zu cores for each of the two that this shell may use", cores);
}
