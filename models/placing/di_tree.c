/* SPDX-License-Identifier: GPL-2.0-or-later */
/* di_tree - see di_tree.h
 *
 * The paper's recursion touches each level of the hierarchy on its own: which child is taken
 * depends on the counts of that level, and Order[] is reversed by the counts of that level. So a
 * level is an array of counts here, with its greatest count and how many entities have it: all
 * entities hold the same number of threads when all have the greatest.
 *
 * With one core per unit the rule means "not full", and is Algorithm 2's line 3: in a regular
 * hierarchy a full entity is never the least filled one while another has a free core. */
#include "models/placing/di_tree.h"
#include "enum_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct entity {
    size_t parent;   /* index in the level above */
    size_t children; /* its first child in the level below; they end where the next's begin */
    size_t cores;    /* cores below it */
    size_t room[DI_TREE_KINDS];  /* of these, not taken in this round */
    size_t whole[DI_TREE_KINDS]; /* greatest room of one cache (container of cores) below it */
    size_t threads;              /* allocated to it, over all rounds */
    bool closed, shelter, target;
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
struct di_tree {
    size_t depth;
    struct level *level;
};

void di_tree_free(struct di_tree *tree)
{
    if (!tree)
        return;
    for (size_t i = 0; tree->level && i < tree->depth; i++)
        free(tree->level[i].entity);
    free(tree->level);
    free(tree);
}

static struct di_tree *alloc(size_t depth)
{
    struct di_tree *tree = calloc(1, sizeof(*tree));

    if (!tree)
        return NULL;
    tree->depth = depth;
    tree->level = calloc(depth, sizeof(*tree->level));
    if (tree->level)
        return tree;
    free(tree);
    return NULL;
}

static bool alloc_level(struct level *level, size_t count)
{
    level->count = count;
    level->entity = calloc(count + 1, sizeof(*level->entity));
    return level->entity;
}

struct di_tree *di_tree_copy(const struct di_tree *tree)
{
    struct di_tree *copy = alloc(tree->depth);

    for (size_t i = 0; copy && i < tree->depth; i++) {
        const struct level *from = &tree->level[i];
        struct level *to = &copy->level[i];

        *to = *from;
        if (!alloc_level(to, from->count)) {
            di_tree_free(copy);
            return NULL;
        }
        memcpy(to->entity, from->entity, (from->count + 1) * sizeof(*to->entity));
    }
    return copy;
}

/* ---- room ---- */

/* Room that is only counted where units of the kind may go: below a closed entity nobody finds an
 * open one, and all of a shelter or a target is one. */
static void restrict_room(struct entity *entity)
{
    const bool SPARSE(only, DI_TREE_KINDS) = {
        [DI_TREE_SHELTER] = entity->shelter, [DI_TREE_TARGET] = entity->target};

    if (entity->closed)
        entity->room[DI_TREE_OPEN] = entity->whole[DI_TREE_OPEN] = 0;
    for (int kind = DI_TREE_SHELTER; kind <= DI_TREE_TARGET; kind++)
        if (only[kind]) {
            entity->room[kind] = entity->room[DI_TREE_ANYWHERE];
            entity->whole[kind] = entity->whole[DI_TREE_ANYWHERE];
        }
}

/* Counts the room of an entity of level `depth`, above the cores, from its children's. */
static void sum_up(struct di_tree *tree, size_t depth, struct entity *entity)
{
    const struct entity *child = tree->level[depth + 1].entity;
    size_t room[DI_TREE_KINDS] = {0}, whole[DI_TREE_KINDS] = {0};

    for (size_t i = entity[0].children; i < entity[1].children; i++)
        for (int kind = 0; kind < DI_TREE_KINDS; kind++) {
            room[kind] += child[i].room[kind];
            if (child[i].whole[kind] > whole[kind])
                whole[kind] = child[i].whole[kind];
        }
    memcpy(entity->room, room, sizeof(room));
    memcpy(entity->whole, depth + 2 == tree->depth ? room : whole, sizeof(whole));
    restrict_room(entity);
}

static void set_core(struct entity *core, size_t room)
{
    core->room[DI_TREE_ANYWHERE] = core->whole[DI_TREE_ANYWHERE] = room;
    core->room[DI_TREE_OPEN] = core->whole[DI_TREE_OPEN] = room;
}

static void sum_up_all(struct di_tree *tree)
{
    for (size_t i = tree->depth - 1; i-- > 0;)
        for (size_t j = 0; j < tree->level[i].count; j++)
            sum_up(tree, i, &tree->level[i].entity[j]);
}

/* Makes every core free (again). */
static void begin_round(struct di_tree *tree)
{
    struct level *cores = &tree->level[tree->depth - 1];

    for (size_t i = 0; i < cores->count; i++)
        set_core(&cores->entity[i], cores->entity[i].cores);
    sum_up_all(tree);
}

size_t di_tree_room(const struct di_tree *tree, enum di_tree_kind kind)
{
    return tree->level[0].entity[0].room[kind];
}

/* ---- the hierarchy ---- */

/* Numbers the children of each entity and counts the cores below it, from the cores up. */
static void link_levels(struct di_tree *tree, const struct di_machine *machine)
{
    struct level *cores = &tree->level[tree->depth - 1];

    for (size_t i = 0; i < cores->count; i++)
        cores->entity[i].cores = 1;
    for (size_t i = tree->depth - 1; i > 0; i--) {
        const struct level *level = &tree->level[i];
        struct entity *above = tree->level[i - 1].entity;
        const size_t *parent = machine->level[i - 1].parent;

        for (size_t j = 0; j < level->count; j++) {
            level->entity[j].parent = parent[j];
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
    begin_round(tree);
}

/* qsort alone does not keep the order of equal ones. */
static int compare_rank(const void *a, const void *b)
{
    const struct di_ranked *x = a, *y = b;

    if (x->miss_pmi != y->miss_pmi)
        return x->miss_pmi < y->miss_pmi ? 1 : -1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

struct di_ranked *di_rank(size_t n, const void *units, size_t size)
{
    struct di_ranked *ranked = calloc(n + 1, sizeof(*ranked)); /* + 1: calloc(0) may be NULL */
    size_t first = 0;

    for (size_t i = 0; ranked && i < n; i++) {
        const struct di_unit *unit = (const void *)((const char *)units + i * size);

        if (unit->cores == 0 || !isfinite(unit->miss_pmi) || unit->miss_pmi < 0) {
            free(ranked);
            errno = EINVAL;
            return NULL;
        }
        ranked[i] = (struct di_ranked){unit->miss_pmi, unit->cores, i, first};
        first += unit->cores;
    }
    if (ranked)
        qsort(ranked, n, sizeof(*ranked), compare_rank);
    return ranked;
}

struct di_tree *di_tree_new(const struct di_machine *machine)
{
    struct di_tree *tree = alloc(machine->depth + 1);

    for (size_t i = 0; tree && i < tree->depth; i++)
        if (!alloc_level(&tree->level[i], i == 0 ? 1 : machine->level[i - 1].count)) {
            di_tree_free(tree);
            return NULL;
        }
    if (tree)
        link_levels(tree, machine);
    return tree;
}

/* ---- placing ---- */

/* Returns whether a is better than b for `cores` threads that stay together; b comes first in
 * Order. */
static bool better(const struct entity *a, const struct entity *b, size_t cores, int kind)
{
    size_t room_a = a->room[kind] < cores ? a->room[kind] : cores;
    size_t room_b = b->room[kind] < cores ? b->room[kind] : cores;

    if ((a->whole[kind] >= cores) != (b->whole[kind] >= cores))
        return a->whole[kind] >= cores;
    if (room_a != room_b)
        return room_a > room_b;
    return a->threads < b->threads;
}

/* Algorithm 2, line 3: returns the child of `parent` for the next `cores` threads of a unit. */
static struct entity *choose(const struct level *level, const struct entity *parent, size_t cores,
                             int kind)
{
    struct entity *first = &level->entity[parent[0].children];
    struct entity *last = &level->entity[parent[1].children - 1];
    struct entity *best = level->reversed ? last : first;

    for (ptrdiff_t i = 1; i <= last - first; i++) {
        struct entity *child = level->reversed ? last - i : first + i;

        if (better(child, best, cores, kind))
            best = child;
    }
    return best;
}

/* Algorithm 2, lines 8 and 12 to 15: counts the threads; reverses the order when all entities hold
 * the same number. */
static void count_threads(struct level *level, struct entity *entity, size_t threads)
{
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

/* Inside a shelter (a target) a unit that has to go there goes anywhere. */
static int kind_below(const struct entity *entity, int kind)
{
    bool arrived =
        (kind == DI_TREE_SHELTER && entity->shelter) || (kind == DI_TREE_TARGET && entity->target);

    return arrived ? DI_TREE_ANYWHERE : kind;
}

/* Does Algorithm 2 for `cores` threads that stay together, below a container of level `depth` that
 * has room for them. Returns where the next core goes. */
static size_t *assign(struct di_tree *tree, size_t depth, struct entity *container, size_t cores,
                      int kind, size_t *core)
{
    struct level *below = &tree->level[depth + 1];

    while (cores > 0) {
        struct entity *child = choose(below, container, cores, kind);
        size_t part = child->room[kind] < cores ? child->room[kind] : cores;

        count_threads(below, child, part);
        if (depth + 2 == tree->depth) {
            *core++ = (size_t)(child - below->entity);
            set_core(child, 0);
        } else {
            core = assign(tree, depth + 1, child, part, kind_below(child, kind), core);
        }
        cores -= part;
    }
    sum_up(tree, depth, container);
    return core;
}

static int compare_index(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* A unit that finds too few free cores begins the next round; so its cores are distinct, unless it
 * is larger than the machine. */
void di_tree_place(struct di_tree *tree, size_t cores, enum di_tree_kind kind, size_t *core)
{
    struct entity *machine = &tree->level[0].entity[0];
    size_t *next = core;

    for (size_t rest = cores; rest > 0;) {
        size_t part = rest < machine->cores ? rest : machine->cores;

        if (machine->room[DI_TREE_ANYWHERE] < part)
            begin_round(tree);
        next = assign(tree, 0, machine, part, machine->room[kind] < part ? DI_TREE_ANYWHERE : kind,
                      next);
        rest -= part;
    }
    qsort(core, cores, sizeof(*core), compare_index);
}

/* ---- one core ---- */

/* Returns the entity of level i of the tree above the core. */
static struct entity *above(const struct di_tree *tree, size_t i, size_t core)
{
    struct entity *entity = &tree->level[tree->depth - 1].entity[core];

    for (size_t j = tree->depth - 1; j > i; j--)
        entity = &tree->level[j - 1].entity[entity->parent];
    return entity;
}

/* Counts the room of the entity of level i of the tree above the core, and of all above it. */
static void sum_up_path(struct di_tree *tree, size_t i, size_t core)
{
    for (size_t j = i + 1; j-- > 0;)
        sum_up(tree, j, above(tree, j, core));
}

void di_tree_idle(struct di_tree *tree, const bool *open, bool counted)
{
    struct level *cores = &tree->level[tree->depth - 1];

    for (size_t core = 0; core < cores->count; core++) {
        if (open[cores->entity[core].parent])
            continue;
        for (size_t i = 0; i < tree->depth; i++)
            tree->level[i].used -= --above(tree, i, core)->cores == 0 && !counted;
        set_core(&cores->entity[core], 0);
    }
    sum_up_all(tree);
}

void di_tree_take(struct di_tree *tree, size_t core)
{
    for (size_t i = 1; i < tree->depth; i++)
        count_threads(&tree->level[i], above(tree, i, core), 1);
    set_core(above(tree, tree->depth - 1, core), 0);
    sum_up_path(tree, tree->depth - 2, core);
}

/* ---- where units may go ---- */

/* Counts the room of the entities of level i of the tree above the cores, and of all above them. */
static void sum_up_paths(struct di_tree *tree, size_t i, size_t cores, const size_t *core)
{
    for (size_t k = 0; k < cores; k++)
        if (k == 0 || above(tree, i, core[k]) != above(tree, i, core[k - 1]))
            sum_up_path(tree, i, core[k]);
}

void di_tree_target(struct di_tree *tree, size_t level, size_t cores, const size_t *core,
                    bool target)
{
    for (size_t i = 0; i < cores; i++)
        above(tree, level + 1, core[i])->target = target;
    sum_up_paths(tree, level + 1, cores, core);
}

void di_tree_close(struct di_tree *tree, size_t level, size_t cores, const size_t *core,
                   bool shelter)
{
    for (size_t i = 0; i < cores; i++) {
        struct entity *entity = above(tree, level + 1, core[i]);

        entity->closed = true;
        entity->shelter = shelter;
    }
    sum_up_paths(tree, level + 1, cores, core);
}
