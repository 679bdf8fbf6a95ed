/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place_policy - see place/policy.h */
#include "packer/place/policy.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/cluster.h"
#include "models/placing/isolate.h"

/* Who has devices stays where he is (near.h): he and his cores are no part of it. Returns how many
 * cores of units are. */
static size_t without_devices(const struct units *units)
{
    size_t cores = 0;

    for (size_t u = 0; u < units->n; u++)
        cores += units->near[u] ? 0 : units->unit[u].cores;
    return cores;
}

/* The pool's part of the machine. */
static int build_tree(const struct scene *scene, const struct units *units, struct topo_tree *tree,
                      struct berth_error *err)
{
    const struct topo *topo = scene->packer->world.topo;
    struct cpus within = {0};

    for (size_t core = 0; core < scene->pool->cores; core++)
        if (units_may_have(units, scene, core) &&
            (units->of_core[core] == UNITS_NONE || !units->near[units->of_core[core]]))
            cpus_or(&within, &topo->core[scene->pool->stand[core]].cpus);
    return topo_tree_build(tree, topo, &within, err);
}

/* The targets in the tree become cores of the topology. The policy has left out who has devices:
 * what it wrote moves up, from the end, and these get the cores where they are. */
static int take_targets(const struct scene *scene, struct topo_tree *tree, struct units *units,
                        const char *policy, int rc, struct berth_error *err)
{
    size_t next = without_devices(units);

    if (rc < 0)
        berth_error_set(err, "%s: %s", policy, strerror(errno));
    for (size_t u = units->n; rc == 0 && u-- > 0;)
        for (size_t i = units->at[u] + units->unit[u].cores; i-- > units->at[u];)
            units->to[i] = units->near[u] ? scene->pool->stand[units->from[i]]
                                          : tree->core_index[units->to[--next]];
    topo_tree_free(tree);
    return rc;
}

/* Nobody is there for a policy by rule to place: all stay where they are. */
static int all_stay(const struct scene *scene, struct units *units)
{
    for (size_t i = 0; i < units->total; i++)
        units->to[i] = scene->pool->stand[units->from[i]];
    return 0;
}

/* What the policies place, in the order of the units' cores: the units, and of those that are apart
 * their threads. */
struct pieces {
    size_t n;
    struct {
        size_t of; /* unit */
        struct di_unit unit;
    } * piece; /* [n] */
};

/* Lists the pieces; free(pieces->piece). -1 with errno ENOMEM. */
static int cut(const struct units *units, struct pieces *pieces)
{
    *pieces = (struct pieces){.piece = calloc(units->total + 1, sizeof(*pieces->piece))};
    for (size_t u = 0; pieces->piece && u < units->n; u++) {
        size_t cores = units->unit[u].cores, n = units->apart[u] ? cores : 1;

        if (units->near[u])
            continue;
        for (size_t i = 0; i < n; i++) {
            pieces->piece[pieces->n].of = u;
            pieces->piece[pieces->n++].unit = (struct di_unit){units->unit[u].miss_pmi, cores / n};
        }
    }
    return pieces->piece ? 0 : -1;
}

static int spread(const struct di_machine *machine, const struct pieces *pieces,
                  struct units *units)
{
    struct di_unit *unit = calloc(pieces->n + 1, sizeof(*unit));
    int rc = -1;

    for (size_t i = 0; unit && i < pieces->n; i++)
        unit[i] = pieces->piece[i].unit;
    if (unit)
        rc = di_place(machine, pieces->n, unit, units->to);
    free(unit);
    return rc;
}

/* DI's prioritised mode: all units of a step that is to be isolated are one group. */
static int isolate(const struct packer *packer, const struct di_machine *machine,
                   const struct pieces *pieces, struct units *units)
{
    struct isolate_unit *unit = calloc(pieces->n + 1, sizeof(*unit));
    bool *isolated = calloc(pieces->n + 1, sizeof(*isolated));
    size_t level;
    long count = -1;

    for (size_t i = 0; unit && i < pieces->n; i++) {
        const struct step *step = units->isolate_for[pieces->piece[i].of];

        unit[i] = (struct isolate_unit){.unit = pieces->piece[i].unit,
                                        .group = (size_t)(uintptr_t)step,
                                        .prioritised = step,
                                        .sensitive = step};
    }
    if (unit && isolated)
        count = isolate_place_best(machine, packer->world.conf.devil_miss_pmi, pieces->n, unit,
                                   units->to, isolated, &level);
    for (size_t i = 0; count >= 0 && i < pieces->n; i++)
        units->isolated[pieces->piece[i].of] = isolated[i];
    free(isolated);
    free(unit);
    return count < 0 ? -1 : 0;
}

static int spread_all(const struct scene *scene, struct units *units, struct berth_error *err)
{
    struct topo_tree tree;
    struct pieces pieces;
    int rc;

    if (without_devices(units) == 0)
        return all_stay(scene, units);
    if (build_tree(scene, units, &tree, err) < 0)
        return -1;
    rc = cut(units, &pieces);
    if (rc == 0)
        rc = units_isolate(units) ? isolate(scene->packer, &tree.machine, &pieces, units)
                                  : spread(&tree.machine, &pieces, units);
    free(pieces.piece);
    return take_targets(scene, &tree, units, "DI", rc, err);
}

/* Marks the packages where steps stand that berth places, on cores of other kinds. */
static void wake_other_kinds(const struct scene *scene, const struct units *units, bool *package)
{
    const struct topo *topo = scene->packer->world.topo;
    const struct step *step;
    struct cpus image;

    TAILQ_FOREACH(step, &scene->packer->steps->live, link)
    for (size_t t = 0; units_count(scene, step) && t < step->body.ntasks; t++) {
        stand_image(scene->packer, scene->pool, &step->body.task[t].use, &image);
        for (size_t i = 0; i < topo->cores; i++)
            if (topo->core[i].kind != units->kind && cpus_intersect(&topo->core[i].cpus, &image))
                package[topo->core[i].package] = true;
    }
}

/* Finds the packages of the tree where somebody is whom berth does not place, or not by a policy,
 * or on cores of another kind; NULL: no memory. */
static bool *awake_in(const struct scene *scene, const struct units *units,
                      const struct topo_tree *tree)
{
    const struct topo *topo = scene->packer->world.topo;
    bool *package = calloc(topo->packages, sizeof(*package));
    bool *awake = calloc(tree->level[TOPO_PACKAGE].count, sizeof(*awake));

    if (package && awake) {
        stand_awake(scene, package);
        wake_other_kinds(scene, units, package);
        for (size_t u = 0; u < units->n; u++)
            for (size_t i = units->at[u]; units->near[u] && i < units->at[u] + units->unit[u].cores;
                 i++)
                package[topo->core[scene->pool->stand[units->from[i]]].package] = true;
        for (size_t j = 0; j < tree->level[TOPO_CORE].count; j++)
            awake[topo_tree_package(tree, j)] |= package[topo->core[tree->core_index[j]].package];
    } else {
        free(awake);
        awake = NULL;
    }
    free(package);
    return awake;
}

static int cluster(const struct packer *packer, const struct di_machine *machine, const bool *awake,
                   const struct pieces *pieces, struct units *units)
{
    const struct conf *conf = &packer->world.conf;
    const struct cluster_rule rule = {conf->devil_miss_pmi,
                                      conf->dio_power_order == CONF_AS_PRINTED};
    struct cluster_unit *unit = calloc(pieces->n + 1, sizeof(*unit));
    int rc = -1;

    for (size_t i = 0; unit && i < pieces->n; i++)
        unit[i] = (struct cluster_unit){pieces->piece[i].unit, units->packed[pieces->piece[i].of]};
    if (unit)
        rc = cluster_place(machine, &rule, awake, pieces->n, unit, units->to);
    free(unit);
    return rc;
}

static int cluster_all(const struct scene *scene, struct units *units, struct berth_error *err)
{
    struct pieces pieces;
    struct topo_tree tree;
    bool *awake;
    int rc;

    if (without_devices(units) == 0)
        return all_stay(scene, units);
    if (build_tree(scene, units, &tree, err) < 0)
        return -1;
    awake = awake_in(scene, units, &tree);
    rc = cut(units, &pieces);
    if (rc == 0)
        rc = awake ? cluster(scene->packer, &tree.machine, awake, &pieces, units) : -1;
    free(pieces.piece);
    free(awake);
    return take_targets(scene, &tree, units, "DIO-POWER", rc, err);
}

/* ---- nobody is scattered ---- */

/* Returns on how many caches the n cores are: core[i], or where core[i] stands in the pool. */
static size_t caches_of(const struct topo *topo, const size_t *core, const size_t *stand, size_t n)
{
    size_t caches = 0;

    for (size_t i = 0; i < n; i++) {
        size_t llc = topo->core[stand ? stand[core[i]] : core[i]].llc, j = 0;

        while (j < i && topo->core[stand ? stand[core[j]] : core[j]].llc != llc)
            j++;
        caches += j == i;
    }
    return caches;
}

/* Would the unit be on more caches than it is? Threads of their own may. */
static bool is_scattered(const struct scene *scene, const struct units *units, size_t u)
{
    const struct topo *topo = scene->packer->world.topo;
    size_t at = units->at[u], n = units->unit[u].cores;

    return !units->near[u] && !units->apart[u] &&
           caches_of(topo, units->to + at, NULL, n) >
               caches_of(topo, units->from + at, scene->pool->stand, n);
}

/* Rules count cores and miss rates: what comes late finds room in pieces. Who would be scattered
 * that way stays where he is, and the others are placed around him. While somebody is to be
 * isolated, that comes first. */
static int decide_whole(const struct scene *scene, struct units *units, struct berth_error *err,
                        int (*decide)(const struct scene *scene, struct units *units,
                                      struct berth_error *err))
{
    bool *held = calloc(units->n + 1, sizeof(*held)), again;
    int rc;

    if (!held)
        return berth_error_set(err, "place: out of memory");
    do {
        rc = decide(scene, units, err);
        again = false;
        for (size_t u = 0; rc == 0 && !units_isolate(units) && u < units->n; u++)
            if (is_scattered(scene, units, u)) {
                units->near[u] = &scene->packer->world.topo->cpus;
                held[u] = again = true;
            }
    } while (again);
    for (size_t u = 0; u < units->n; u++)
        units->near[u] = held[u] ? NULL : units->near[u];
    free(held);
    return rc;
}

int policy_spread(const struct scene *scene, struct units *units, struct berth_error *err)
{
    return decide_whole(scene, units, err, spread_all);
}

int policy_cluster(const struct scene *scene, struct units *units, struct berth_error *err)
{
    return decide_whole(scene, units, err, cluster_all);
}
