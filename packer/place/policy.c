/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place_policy - see place/policy.h */
#include "packer/place/policy.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/cluster.h"
#include "models/placing/isolate.h"
#include "packer/place/place.h"
#include "packer/steps/stand.h"

/* The pool's part of the machine. */
static int tree_of(const struct packer *packer, const struct pool *pool, struct topo_tree *tree,
                   struct berth_error *err)
{
    struct cpus within = {0};

    for (size_t core = 0; core < pool->cores; core++)
        if (pool_has(pool, core))
            cpus_or(&within, &packer->topo->core[core].cpus);
    return topo_tree_build(tree, packer->topo, &within, err);
}

/* The targets in the tree become cores of the topology. */
static int take_targets(struct topo_tree *tree, struct units *units, const char *policy, int rc,
                        struct berth_error *err)
{
    if (rc < 0)
        berth_error_set(err, "%s: %s", policy, strerror(errno));
    for (size_t i = 0; rc == 0 && i < units->total; i++)
        units->to[i] = tree->core_index[units->to[i]];
    topo_tree_free(tree);
    return rc;
}

/* DI's prioritised mode: all units of a step that is to be isolated are one group. */
static int isolate(const struct packer *packer, const struct di_machine *machine,
                   struct units *units)
{
    struct isolate_unit *unit = calloc(units->n, sizeof(*unit));
    size_t level;
    long count = -1;

    for (size_t u = 0; unit && u < units->n; u++)
        unit[u] = (struct isolate_unit){.unit = units->unit[u],
                                        .group = (size_t)(uintptr_t)units->asker[u],
                                        .prioritised = units->asker[u],
                                        .sensitive = units->asker[u]};
    if (unit)
        count = isolate_place_best(machine, packer->conf.devil_miss_pmi, units->n, unit, units->to,
                                   units->isolated, &level);
    free(unit);
    return count < 0 ? -1 : 0;
}

int policy_spread(const struct packer *packer, const struct pool *pool, struct units *units,
                  struct berth_error *err)
{
    struct topo_tree tree;
    int rc;

    if (tree_of(packer, pool, &tree, err) < 0)
        return -1;
    rc = units_isolate(units) ? isolate(packer, &tree.machine, units)
                              : di_place(&tree.machine, units->n, units->unit, units->to);
    return take_targets(&tree, units, "DI", rc, err);
}

/* Packages of the tree where somebody is whom berth does not place. */
static void find_awake(const struct packer *packer, const struct step *guest,
                       const struct topo_tree *tree, bool *awake)
{
    const struct topo *topo = packer->topo;
    struct cpus others;

    stand_others(packer, guest, &others);
    for (size_t i = 0; i < topo->cores; i++) {
        if (!cpus_intersect(&topo->core[i].cpus, &others))
            continue;
        for (size_t j = 0; j < tree->level[2].count; j++)
            if (topo->core[tree->core_index[j]].package == topo->core[i].package)
                awake[tree->parent[1][tree->parent[2][j]]] = true;
    }
}

int policy_cluster(const struct packer *packer, const struct step *guest, const struct pool *pool,
                   struct units *units, struct berth_error *err)
{
    struct cluster_unit *unit = calloc(units->n + 1, sizeof(*unit));
    struct topo_tree tree;
    bool *awake = NULL;
    int rc = -1;

    if (tree_of(packer, pool, &tree, err) < 0) {
        free(unit);
        return -1;
    }
    awake = calloc(tree.level[0].count, sizeof(*awake));
    for (size_t u = 0; unit && u < units->n; u++)
        unit[u] = (struct cluster_unit){units->unit[u], units->packed[u]};
    if (unit && awake) {
        find_awake(packer, guest, &tree, awake);
        rc = cluster_place(&tree.machine, packer->conf.devil_miss_pmi, awake, units->n, unit,
                           units->to);
    }
    free(awake);
    free(unit);
    return take_targets(&tree, units, "DIO-POWER", rc, err);
}
