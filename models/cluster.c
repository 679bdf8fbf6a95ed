/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster - see cluster.h
 *
 * Caches that stay idle are taken out of the tree (di_tree.h), so that the rule by which an order
 * is reversed looks at the open ones alone, as in walk.h; devils close the caches that they are
 * in. */
#include "cluster.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "di_tree.h"

struct cache {
    size_t number;
    size_t cores, free; /* free: of the others' units */
    bool awake;         /* its package is */
    size_t room;        /* free cores of its package */
    bool devil;         /* one of the others' */
};

struct clustering {
    const struct di_machine *machine;
    const struct cluster_unit *unit;
    double devil_miss_pmi;
    size_t n, caches, cores;
    struct di_ranked *ranked; /* [n] by descending miss rate */
    struct cache *cache;      /* [caches] in the order of opening */
    bool *open;               /* [caches] by number */
    size_t *of_core;          /* the machine's cache of each core */
    size_t *core;             /* the caller's */
};

static bool is_devil(const struct clustering *c, size_t unit)
{
    return c->unit[unit].unit.miss_pmi >= c->devil_miss_pmi;
}

static void rank(struct clustering *c)
{
    size_t first = 0;

    for (size_t i = 0; i < c->n; i++) {
        c->ranked[i] = (struct di_ranked){c->unit[i].unit.miss_pmi, i, first};
        first += c->unit[i].unit.cores;
    }
    di_rank(c->ranked, c->n);
}

/* ---- the caches ---- */

/* The entity of level 0 that the cache is in. */
static size_t package_of(const struct di_machine *machine, size_t cache)
{
    for (size_t level = machine->depth - 2; level > 0; level--)
        cache = machine->level[level].parent[cache];
    return cache;
}

static int compare_cache(const void *a, const void *b)
{
    const struct cache *x = a, *y = b;

    if (x->awake != y->awake)
        return x->awake ? -1 : 1;
    if (x->room != y->room)
        return x->room > y->room ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The others' unit stands there now: what that makes of the caches, which are still in order of
 * their numbers. */
static void occupy(struct clustering *c, const struct di_ranked *ranked)
{
    for (size_t i = 0; i < c->unit[ranked->unit].unit.cores; i++) {
        struct cache *cache = &c->cache[c->of_core[c->core[ranked->first + i]]];

        cache->free -= cache->free > 0;
        cache->devil = cache->devil || is_devil(c, ranked->unit);
        for (size_t j = 0; j < c->caches; j++)
            if (package_of(c->machine, j) == package_of(c->machine, cache->number))
                c->cache[j].awake = true;
    }
}

static void list_caches(struct clustering *c, const bool *awake)
{
    for (size_t i = 0; i < c->caches; i++)
        c->cache[i] =
            (struct cache){.number = i, .awake = awake && awake[package_of(c->machine, i)]};
    for (size_t i = 0; i < c->cores; i++) {
        c->cache[c->of_core[i]].cores++;
        c->cache[c->of_core[i]].free++;
    }
}

/* Who is awake anyway comes first, then where most has room: fewer packages are needed then. */
static void order_caches(struct clustering *c)
{
    for (size_t i = 0; i < c->caches; i++)
        for (size_t j = 0; j < c->caches; j++)
            if (package_of(c->machine, i) == package_of(c->machine, j))
                c->cache[i].room += c->cache[j].free;
    qsort(c->cache, c->caches, sizeof(*c->cache), compare_cache);
}

static size_t largest_cache(const struct clustering *c)
{
    size_t largest = 1;

    for (size_t i = 0; i < c->caches; i++)
        if (c->cache[i].cores > largest)
            largest = c->cache[i].cores;
    return largest;
}

/* The least number of caches that the unit is in. */
static size_t caches_for(const struct clustering *c, size_t unit)
{
    size_t largest = largest_cache(c);

    return (c->unit[unit].unit.cores + largest - 1) / largest;
}

/* Algorithm 3, line 8: how many caches to open at least. */
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
        di_tree_place(tree, c->unit[ranked->unit].unit.cores, DI_TREE_ANYWHERE,
                      c->core + ranked->first);
        occupy(c, ranked);
    }
    di_tree_free(tree);
    return 0;
}

/* What the others have of the open caches. */
static void take_others(const struct clustering *c, struct di_tree *tree)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct di_ranked *ranked = &c->ranked[i];

        for (size_t j = 0; !c->unit[ranked->unit].packed && j < c->unit[ranked->unit].unit.cores;
             j++) {
            const size_t *core = &c->core[ranked->first + j];

            if (!c->open[c->of_core[*core]])
                continue;
            di_tree_take(tree, *core);
            if (is_devil(c, ranked->unit))
                di_tree_close(tree, c->machine->depth - 2, 1, core, false);
        }
    }
}

/* Algorithm 4, with the first `open` caches. */
static int pack(struct clustering *c, size_t open)
{
    struct di_tree *tree = di_tree_new(c->machine);

    if (!tree)
        return -1;
    memset(c->open, 0, c->caches * sizeof(*c->open));
    for (size_t i = 0; i < open; i++)
        c->open[c->cache[i].number] = true;
    for (size_t i = 0; i < c->cores; i++)
        if (!c->open[c->of_core[i]])
            di_tree_idle(tree, i);
    take_others(c, tree);
    for (size_t i = 0; i < c->n; i++) {
        const struct di_ranked *ranked = &c->ranked[i];
        size_t cores = c->unit[ranked->unit].unit.cores, *core = c->core + ranked->first;
        bool devil = is_devil(c, ranked->unit);

        if (!c->unit[ranked->unit].packed)
            continue;
        di_tree_place(tree, cores, devil ? DI_TREE_OPEN : DI_TREE_ANYWHERE, core);
        if (devil)
            di_tree_close(tree, c->machine->depth - 2, cores, core, false);
    }
    di_tree_free(tree);
    return 0;
}

/* How many caches the packed units are in, each for itself. */
static size_t count_parts(const struct clustering *c)
{
    size_t parts = 0;

    for (size_t i = 0; i < c->n; i++) {
        const size_t *core = c->core + c->ranked[i].first;

        if (!c->unit[c->ranked[i].unit].packed)
            continue;
        for (size_t j = 0; j < c->unit[c->ranked[i].unit].unit.cores; j++) /* cores ascend */
            parts += j == 0 || c->of_core[core[j]] != c->of_core[core[j - 1]];
    }
    return parts;
}

/* As few caches as do, but none is split for want of them. */
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

static bool input_is_sound(const struct di_machine *machine, size_t n,
                           const struct cluster_unit *unit)
{
    if (machine->depth < 2 || machine->level[machine->depth - 1].count == 0 ||
        !di_machine_is_sound(machine))
        return false;
    for (size_t i = 0; i < n; i++)
        if (unit[i].unit.cores == 0 || !isfinite(unit[i].unit.miss_pmi) ||
            unit[i].unit.miss_pmi < 0)
            return false;
    return true;
}

int cluster_place(const struct di_machine *machine, double devil_miss_pmi, const bool *awake,
                  size_t n, const struct cluster_unit *unit, size_t *core)
{
    struct clustering c = {
        .machine = machine, .unit = unit, .devil_miss_pmi = devil_miss_pmi, .n = n, .core = core};
    int rc = -1;

    if (!input_is_sound(machine, n, unit)) {
        errno = EINVAL;
        return -1;
    }
    c.caches = machine->level[machine->depth - 2].count;
    c.cores = machine->level[machine->depth - 1].count;
    c.ranked = calloc(n + 1, sizeof(*c.ranked)); /* + 1: calloc(0) may be NULL */
    c.cache = calloc(c.caches, sizeof(*c.cache));
    c.open = calloc(c.caches, sizeof(*c.open));
    c.of_core = malloc(c.cores * sizeof(*c.of_core));
    if (c.ranked && c.cache && c.open && c.of_core) {
        memcpy(c.of_core, machine->level[machine->depth - 1].parent, c.cores * sizeof(*c.of_core));
        rank(&c);
        list_caches(&c, awake);
        rc = spread_others(&c);
        order_caches(&c);
        rc = rc == 0 ? pack_tight(&c) : rc;
    }
    free(c.ranked);
    free(c.cache);
    free(c.open);
    free(c.of_core);
    return rc;
}
