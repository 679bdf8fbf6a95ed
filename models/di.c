/* SPDX-License-Identifier: GPL-2.0-or-later */
/* di - see di.h
 *
 * The paper's recursion touches each level of the hierarchy on its own: which child is taken
 * depends on the counts of that level, and Order[] is reversed by the counts of that level. So a
 * level is an array of counts here, with its greatest count and how many entities have it: all
 * entities hold the same number of threads when all have the greatest.
 *
 * One rule serves threads and units of several cores: take a child where the whole unit fits into
 * one cache, among those the one with the most room (as far as the unit needs it), among those the
 * least filled, among those the first in Order. With one core per unit that means "not full", and
 * the rule is Algorithm 2's line 3: in a regular hierarchy a full entity is never the least filled
 * one while another has a free core. */
#include "di.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct entity {
    size_t children; /* its first child in the level below; they end where the next's begin */
    size_t cores;    /* cores below it */
    size_t room;     /* of these, not taken in this round */
    size_t whole;    /* greatest room of one cache (container of cores) below it */
    size_t threads;  /* allocated to it, over all rounds */
};

struct level {
    struct entity *entity; /* [count + 1] the last only ends the children of the one before */
    size_t count;
    size_t used;     /* entities that have a core below them */
    size_t greatest; /* number of threads of one entity */
    size_t at_greatest;
    bool reversed; /* Order[] */
};

/* Level 0 is the whole machine, level i + 1 is the caller's level i. */
struct hierarchy {
    size_t depth;
    struct level *level;
};

struct ranked {
    double miss_pmi;
    size_t unit;  /* index in the caller's array */
    size_t first; /* where its cores go in the caller's array */
};

static bool level_is_sound(const struct di_level *level, size_t parents)
{
    for (size_t i = 0; i < level->count; i++)
        if (level->parent[i] >= parents || (i > 0 && level->parent[i] < level->parent[i - 1]))
            return false;
    return true;
}

bool di_machine_is_sound(const struct di_machine *machine)
{
    size_t parents = 1;

    for (size_t i = 0; i < machine->depth; i++) {
        if (!level_is_sound(&machine->level[i], parents))
            return false;
        parents = machine->level[i].count;
    }
    return true;
}

static bool input_is_sound(const struct di_machine *machine, size_t n, const struct di_unit *units)
{
    if (machine->depth == 0 || machine->level[machine->depth - 1].count == 0 ||
        !di_machine_is_sound(machine))
        return false;
    for (size_t i = 0; i < n; i++)
        if (units[i].cores == 0 || !isfinite(units[i].miss_pmi) || units[i].miss_pmi < 0)
            return false;
    return true;
}

static void hierarchy_free(struct hierarchy *tree)
{
    for (size_t i = 0; tree->level && i < tree->depth; i++)
        free(tree->level[i].entity);
    free(tree->level);
}

static int hierarchy_alloc(struct hierarchy *tree, const struct di_machine *machine)
{
    tree->depth = machine->depth + 1;
    tree->level = calloc(tree->depth, sizeof(*tree->level));
    if (!tree->level)
        return -1;
    for (size_t i = 0; i < tree->depth; i++) {
        struct level *level = &tree->level[i];

        level->count = i == 0 ? 1 : machine->level[i - 1].count;
        level->entity = calloc(level->count + 1, sizeof(*level->entity));
        if (!level->entity)
            return -1;
    }
    return 0;
}

/* The greatest unit that fits below an entity of level `depth` without being split over caches. */
static size_t find_whole(const struct hierarchy *tree, size_t depth, const struct entity *entity)
{
    const struct entity *child;
    size_t whole = 0;

    if (depth + 2 >= tree->depth)
        return entity->room;
    child = tree->level[depth + 1].entity;
    for (size_t i = entity[0].children; i < entity[1].children; i++)
        if (child[i].whole > whole)
            whole = child[i].whole;
    return whole;
}

/* Every core is free (again). */
static void hierarchy_begin_round(struct hierarchy *tree)
{
    for (size_t i = tree->depth; i-- > 0;)
        for (size_t j = 0; j < tree->level[i].count; j++) {
            struct entity *entity = &tree->level[i].entity[j];

            entity->room = entity->cores;
            entity->whole = find_whole(tree, i, entity);
        }
}

/* Number the children of each entity and count the cores below it, from the cores up. */
static void hierarchy_link(struct hierarchy *tree, const struct di_machine *machine)
{
    struct level *cores = &tree->level[tree->depth - 1];

    for (size_t i = 0; i < cores->count; i++)
        cores->entity[i].cores = 1;
    for (size_t i = tree->depth - 1; i > 0; i--) {
        const struct level *level = &tree->level[i];
        struct entity *above = tree->level[i - 1].entity;
        const size_t *parent = machine->level[i - 1].parent;

        for (size_t j = 0; j < level->count; j++) {
            above[parent[j]].cores += level->entity[j].cores;
            above[parent[j] + 1].children = j + 1;
        }
        for (size_t j = 1; j <= tree->level[i - 1].count; j++)
            if (above[j].children < above[j - 1].children)
                above[j].children = above[j - 1].children;
    }
    for (size_t i = 0; i < tree->depth; i++)
        for (size_t j = 0; j < tree->level[i].count; j++)
            tree->level[i].used += tree->level[i].entity[j].cores > 0;
    hierarchy_begin_round(tree);
}

/* Is a better than b for `cores` threads that stay together? b comes first in Order. */
static bool better(const struct entity *a, const struct entity *b, size_t cores)
{
    size_t room_a = a->room < cores ? a->room : cores;
    size_t room_b = b->room < cores ? b->room : cores;

    if ((a->whole >= cores) != (b->whole >= cores))
        return a->whole >= cores;
    if (room_a != room_b)
        return room_a > room_b;
    return a->threads < b->threads;
}

/* Algorithm 2, line 3: the child of `parent` for the next `cores` threads of a unit. */
static struct entity *choose(const struct level *level, const struct entity *parent, size_t cores)
{
    struct entity *first = &level->entity[parent[0].children];
    struct entity *last = &level->entity[parent[1].children - 1];
    struct entity *best = level->reversed ? last : first;

    for (ptrdiff_t i = 1; i <= last - first; i++) {
        struct entity *child = level->reversed ? last - i : first + i;

        if (better(child, best, cores))
            best = child;
    }
    return best;
}

/* Algorithm 2, lines 8 and 12 to 15: count the threads; reverse the order when all entities hold
 * the same number. */
static void allocate(struct level *level, struct entity *entity, size_t threads)
{
    entity->room -= threads;
    entity->threads += threads;
    if (entity->threads > level->greatest) {
        level->greatest = entity->threads;
        level->at_greatest = 0;
    }
    if (entity->threads == level->greatest)
        level->at_greatest++;
    if (level->at_greatest == level->used)
        level->reversed = !level->reversed;
}

/* Algorithm 2 for `cores` threads that stay together, below a container of level `depth` that has
 * room for them. Returns where the next core goes. */
static size_t *assign(struct hierarchy *tree, size_t depth, struct entity *container, size_t cores,
                      size_t *core)
{
    struct level *below = &tree->level[depth + 1];

    while (cores > 0) {
        struct entity *child = choose(below, container, cores);
        size_t part = child->room < cores ? child->room : cores;

        allocate(below, child, part);
        if (depth + 2 == tree->depth)
            *core++ = (size_t)(child - below->entity);
        else
            core = assign(tree, depth + 1, child, part, core);
        cores -= part;
    }
    container->whole = find_whole(tree, depth, container);
    return core;
}

static int compare_index(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* A unit that finds too few free cores begins the next round; so its cores are distinct, unless it
 * is larger than the machine. */
static void place(struct hierarchy *tree, size_t cores, size_t *core)
{
    struct entity *machine = &tree->level[0].entity[0];
    size_t *next = core;

    for (size_t rest = cores; rest > 0;) {
        size_t part = rest < machine->cores ? rest : machine->cores;

        if (machine->room < part)
            hierarchy_begin_round(tree);
        machine->room -= part;
        next = assign(tree, 0, machine, part, next);
        rest -= part;
    }
    qsort(core, cores, sizeof(*core), compare_index);
}

/* Descending by miss rate; equal ones keep their order (qsort alone does not). */
static int compare_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->miss_pmi != y->miss_pmi)
        return x->miss_pmi < y->miss_pmi ? 1 : -1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static void rank(struct ranked *ranked, size_t n, const struct di_unit *units)
{
    size_t first = 0;

    for (size_t i = 0; i < n; i++) {
        ranked[i] = (struct ranked){.miss_pmi = units[i].miss_pmi, .unit = i, .first = first};
        first += units[i].cores;
    }
    qsort(ranked, n, sizeof(*ranked), compare_rank);
}

int di_place(const struct di_machine *machine, size_t n, const struct di_unit *units, size_t *core)
{
    struct hierarchy tree = {0};
    struct ranked *ranked = NULL;
    int rc = -1;

    if (!input_is_sound(machine, n, units)) {
        errno = EINVAL;
        return -1;
    }
    ranked = calloc(n + 1, sizeof(*ranked)); /* + 1: calloc(0) may be NULL */
    if (!ranked || hierarchy_alloc(&tree, machine) < 0)
        goto out;
    hierarchy_link(&tree, machine);
    rank(ranked, n, units);
    for (size_t i = 0; i < n; i++)
        place(&tree, units[ranked[i].unit].cores, core + ranked[i].first);
    rc = 0;
out:
    hierarchy_free(&tree);
    free(ranked);
    return rc;
}
