/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place_policy - see place/policy.h */
#include "packer/place/policy.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/cluster.h"
#include "models/placing/isolate.h"

/* The pool's part of the machine. */
static int build_tree(const struct scene *scene, struct topo_tree *tree, struct berth_error *err)
{
    const struct topo *topo = scene->packer->topo;
    struct cpus within = {0};

    for (size_t core = 0; core < scene->pool->cores; core++)
        if (pool_has(scene->pool, core))
            cpus_or(&within, &topo->core[core].cpus);
    return topo_tree_build(tree, topo, &within, err);
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
                                        .group = (size_t)(uintptr_t)units->isolate_for[u],
                                        .prioritised = units->isolate_for[u],
                                        .sensitive = units->isolate_for[u]};
    if (unit)
        count = isolate_place_best(machine, packer->conf.devil_miss_pmi, units->n, unit, units->to,
                                   units->isolated, &level);
    free(unit);
    return count < 0 ? -1 : 0;
}

int policy_spread(const struct scene *scene, struct units *units, struct berth_error *err)
{
    struct topo_tree tree;
    int rc;

    if (build_tree(scene, &tree, err) < 0)
        return -1;
    rc = units_isolate(units) ? isolate(scene->packer, &tree.machine, units)
                              : di_place(&tree.machine, units->n, units->unit, units->to);
    return take_targets(&tree, units, "DI", rc, err);
}

/* Finds the packages of the tree where somebody is whom berth does not place; NULL: no memory. */
static bool *awake_in(const struct scene *scene, const struct topo_tree *tree)
{
    const struct topo *topo = scene->packer->topo;
    bool *package = calloc(topo->packages, sizeof(*package));
    bool *awake = calloc(tree->level[0].count, sizeof(*awake));

    if (package && awake) {
        stand_awake(scene, package);
        for (size_t j = 0; j < tree->level[2].count; j++)
            awake[tree->parent[1][tree->parent[2][j]]] |=
                package[topo->core[tree->core_index[j]].package];
    } else {
        free(awake);
        awake = NULL;
    }
    free(package);
    return awake;
}

int policy_cluster(const struct scene *scene, struct units *units, struct berth_error *err)
{
    struct cluster_unit *unit = calloc(units->n + 1, sizeof(*unit));
    const struct conf *conf = &scene->packer->conf;
    const struct cluster_rule rule = {conf->devil_miss_pmi,
                                      conf->dio_power_order == CONF_AS_PRINTED};
    struct topo_tree tree;
    bool *awake;
    int rc = -1;

    if (build_tree(scene, &tree, err) < 0) {
        free(unit);
        return -1;
    }
    awake = awake_in(scene, &tree);
    for (size_t u = 0; unit && u < units->n; u++)
        unit[u] = (struct cluster_unit){units->unit[u], units->packed[u]};
    if (unit && awake)
        rc = cluster_place(&tree.machine, &rule, awake, units->n, unit, units->to);
    free(awake);
    free(unit);
    return take_targets(&tree, units, "DIO-POWER", rc, err);
}
