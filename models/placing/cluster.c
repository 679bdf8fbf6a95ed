/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster - see cluster.h
 *
 * Caches that stay idle are taken out of the tree (di_tree.h); whether the rule by which an order
 * is reversed looks at them is the caller's choice (struct cluster_rule). Devils close the caches
 * that they are in. */
#include "models/placing/cluster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/di_tree.h"

struct package {
    bool awake;
    size_t room; /* free cores */
};

struct cache {
    size_t number;
    struct package *package;
    size_t cores, free; /* free: of the others' units */
    bool devil;         /* one of the others' */
};

struct clustering {
    const struct di_machine *machine;
    const struct cluster_unit *unit;
    const struct cluster_rule *rule;
    size_t n, caches, cores;
    size_t largest;           /* cores of the largest cache */
    struct di_ranked *ranked; /* [n] by descending miss rate */
    struct package *package;  /* entities of level 0 */
    struct cache *cache;      /* [caches] in the order of opening */
    bool *open;               /* [caches] by number */
    const size_t *of_core;    /* the machine's cache of each core */
    size_t *core;             /* the caller's */
};

static bool is_devil(const struct clustering *c, size_t unit)
{
    return c->unit[unit].unit.miss_pmi >= c->rule->devil_miss_pmi;
}

/* ---- the caches ---- */

/* Returns the entity of level 0 that the cache is in. */
static size_t package_of(const struct di_machine *machine, size_t cache)
{
    for (size_t level = machine->depth - 2; level > 0; level--)
        cache = machine->level[level].parent[cache];
    return cache;
}

static int compare_cache(const void *a, const void *b)
{
    const struct cache *x = a, *y = b;

    if (x->package->awake != y->package->awake)
        return x->package->awake ? -1 : 1;
    if (x->package->room != y->package->room)
        return x->package->room > y->package->room ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void list_caches(struct clustering *c, const bool *awake)
{
    for (size_t i = 0; awake && i < c->machine->level[0].count; i++)
        c->package[i].awake = awake[i];
    for (size_t i = 0; i < c->caches; i++)
        c->cache[i] =
            (struct cache){.number = i, .package = &c->package[package_of(c->machine, i)]};
    for (size_t i = 0; i < c->cores; i++) {
        struct cache *cache = &c->cache[c->of_core[i]];

        cache->free = ++cache->cores;
        if (cache->cores > c->largest)
            c->largest = cache->cores;
    }
}

/* Notes in the caches, which are still in order of their numbers, that the others' unit is there.
 */
static void occupy(struct clustering *c, const struct di_ranked *ranked)
{
    for (size_t i = 0; i < ranked->cores; i++) {
        struct cache *cache = &c->cache[c->of_core[c->core[ranked->first + i]]];

        cache->free -= cache->free > 0;
        cache->devil = cache->devil || is_devil(c, ranked->unit);
        cache->package->awake = true;
    }
}

/* Sorts the caches: those of packages that are awake anyway come first, then those where most has
 * room, as fewer packages are needed then. */
static void order_caches(struct clustering *c)
{
    for (size_t i = 0; i < c->caches; i++)
        c->cache[i].package->room += c->cache[i].free;
    qsort(c->cache, c->caches, sizeof(*c->cache), compare_cache);
}

/* Returns the least number of caches that the unit is in. */
static size_t caches_for(const struct clustering *c, size_t unit)
{
    return (c->unit[unit].unit.cores + c->largest - 1) / c->largest;
}

/* Algorithm 3, line 8: returns how many caches to open at least. */
static size_t count_open(const struct clustering *c)
{
    size_t cores = 0, devils = 0, room = 0, clean = 0, open = 0;

    for (size_t i = 0; i < c->n; i++) {
        if (!c->unit[i].packed)
            continue;
        cores += c->unit[i].unit.cores;
        devils += is_devil(c, i) ? caches_for(c, i) : 0;
    }
    while (open < c->caches && (open == 0 || room < cores || clean < devils)) {
        const struct cache *cache = &c->cache[open++];

        room += cache->free;
        clean += cache->free > 0 && !cache->devil;
    }
    return open;
}

/* ---- placing ---- */

static int spread_others(struct clustering *c)
{
    struct di_tree *tree = di_tree_new(c->machine);

    if (!tree)
        return -1;
    for (size_t i = 0; i < c->n; i++) {
        const struct di_ranked *ranked = &c->ranked[i];

        if (c->unit[ranked->unit].packed)
            continue;
        di_tree_place(tree, ranked->cores, DI_TREE_ANYWHERE, c->core + ranked->first);
        occupy(c, ranked);
    }
    di_tree_free(tree);
    return 0;
}

/* Takes from the tree what the others have of the open caches. */
static void take_others(const struct clustering *c, struct di_tree *tree)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct di_ranked *ranked = &c->ranked[i];

        for (size_t j = 0; !c->unit[ranked->unit].packed && j < ranked->cores; j++) {
            const size_t *core = &c->core[ranked->first + j];

            if (!c->open[c->of_core[*core]])
                continue;
            di_tree_take(tree, *core);
            if (is_devil(c, ranked->unit))
                di_tree_close(tree, c->machine->depth - 2, 1, core, false);
        }
    }
}

/* Does Algorithm 4, with the first `open` caches. */
static int pack(struct clustering *c, size_t open)
{
    struct di_tree *tree = di_tree_new(c->machine);

    if (!tree)
        return -1;
    memset(c->open, 0, c->caches * sizeof(*c->open));
    for (size_t i = 0; i < open; i++)
        c->open[c->cache[i].number] = true;
    di_tree_idle(tree, c->open, c->rule->idle_count);
    take_others(c, tree);
    for (size_t i = 0; i < c->n; i++) {
        const struct di_ranked *ranked = &c->ranked[i];
        bool devil = is_devil(c, ranked->unit);
        size_t *core = c->core + ranked->first;

        if (!c->unit[ranked->unit].packed)
            continue;
        di_tree_place(tree, ranked->cores, devil ? DI_TREE_OPEN : DI_TREE_ANYWHERE, core);
        if (devil)
            di_tree_close(tree, c->machine->depth - 2, ranked->cores, core, false);
    }
    di_tree_free(tree);
    return 0;
}

/* Returns how many caches the packed units are in, each for itself. */
static size_t count_parts(const struct clustering *c)
{
    size_t parts = 0;

    for (size_t i = 0; i < c->n; i++) {
        const size_t *core = c->core + c->ranked[i].first;

        if (!c->unit[c->ranked[i].unit].packed)
            continue;
        for (size_t j = 0; j < c->ranked[i].cores; j++) /* cores ascend */
            parts += j == 0 || c->of_core[core[j]] != c->of_core[core[j - 1]];
    }
    return parts;
}

/* Packs into as few caches as do, but splits no unit for want of them. */
static int pack_tight(struct clustering *c)
{
    size_t open = count_open(c), least = 0;

    for (size_t i = 0; i < c->n; i++)
        least += c->unit[i].packed ? caches_for(c, i) : 0;
    if (pack(c, open) < 0)
        return -1;
    if (count_parts(c) <= least || open == c->caches)
        return 0;
    if (pack(c, c->caches) < 0)
        return -1;
    least = count_parts(c);
    for (; open < c->caches; open++) {
        if (pack(c, open) < 0)
            return -1;
        if (count_parts(c) <= least)
            return 0;
    }
    return pack(c, c->caches);
}

int cluster_place(const struct di_machine *machine, const struct cluster_rule *rule,
                  const bool *awake, size_t n, const struct cluster_unit *unit, size_t *core)
{
    struct clustering c = {.machine = machine, .unit = unit, .rule = rule, .n = n, .core = core};
    int rc = -1;

    if (!di_machine_is_sound(machine, 2)) {
        errno = EINVAL;
        return -1;
    }
    c.ranked = di_rank(n, unit, sizeof(*unit));
    if (!c.ranked)
        return -1;
    c.caches = machine->level[machine->depth - 2].count;
    c.cores = machine->level[machine->depth - 1].count;
    c.of_core = machine->level[machine->depth - 1].parent;
    c.package = calloc(machine->level[0].count, sizeof(*c.package));
    c.cache = calloc(c.caches, sizeof(*c.cache));
    c.open = calloc(c.caches, sizeof(*c.open));
    if (c.package && c.cache && c.open) {
        list_caches(&c, awake);
        rc = spread_others(&c);
        order_caches(&c);
        rc = rc == 0 ? pack_tight(&c) : rc;
    }
    free(c.ranked);
    free(c.package);
    free(c.cache);
    free(c.open);
    return rc;
}
