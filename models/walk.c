/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk - see walk.h
 *
 * Room is counted twice for each entity: the free cores below it, and those of them that a devil
 * may have. What is barred has none of the second kind, and so neither have its containers on its
 * account. */
#include "walk.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { ANYBODY, DEVIL, KINDS };

struct entity {
    size_t parent;   /* index in the level above */
    size_t children; /* its first child in the level below; they end where the next's begin */
    size_t threads;  /* allocated to it, over all rounds */
    size_t room[KINDS];
    bool idle;   /* of cores: its cache stays idle */
    bool barred; /* to devils */
};

struct level {
    struct entity *entity; /* [count + 1] the last only ends the children of the one before */
    size_t count;
    size_t used;     /* entities that are not idle */
    size_t greatest; /* number of threads of one entity */
    size_t at_greatest;
    bool reversed; /* Order[] */
};

/* Level 0 is the whole machine, level i + 1 is the caller's level i. */
struct walk {
    size_t depth;
    struct level *level;
};

/* Free every core that is not idle (again), and count from the cores up. */
static void begin_round(struct walk *walk)
{
    for (size_t i = walk->depth; i-- > 0;)
        for (size_t j = 0; j < walk->level[i].count; j++) {
            struct entity *entity = &walk->level[i].entity[j];
            const struct entity *child = i + 1 < walk->depth ? walk->level[i + 1].entity : NULL;

            entity->room[ANYBODY] = entity->room[DEVIL] = !child && !entity->idle;
            for (size_t k = entity[0].children; child && k < entity[1].children; k++) {
                entity->room[ANYBODY] += child[k].room[ANYBODY];
                entity->room[DEVIL] += child[k].room[DEVIL];
            }
            if (entity->barred)
                entity->room[DEVIL] = 0;
        }
}

static void link_level(struct level *level, struct level *above, const size_t *parent)
{
    for (size_t i = 0; i < level->count; i++) {
        level->entity[i].parent = parent[i];
        above->entity[parent[i] + 1].children = i + 1;
    }
    for (size_t i = 1; i <= above->count; i++)
        if (above->entity[i].children < above->entity[i - 1].children)
            above->entity[i].children = above->entity[i - 1].children;
}

static int allocate(struct walk *walk, const struct di_machine *machine)
{
    walk->depth = machine->depth + 1;
    walk->level = calloc(walk->depth, sizeof(*walk->level));
    if (!walk->level)
        return -1;
    for (size_t i = 0; i < walk->depth; i++) {
        struct level *level = &walk->level[i];

        level->count = i == 0 ? 1 : machine->level[i - 1].count;
        level->entity = calloc(level->count + 1, sizeof(*level->entity));
        if (!level->entity)
            return -1;
        if (i > 0)
            link_level(level, &walk->level[i - 1], machine->level[i - 1].parent);
    }
    return 0;
}

struct walk *walk_new(const struct di_machine *machine, size_t open)
{
    struct walk *walk;
    struct level *cores;

    if (machine->depth < 2 || !di_machine_is_sound(machine)) {
        errno = EINVAL;
        return NULL;
    }
    walk = calloc(1, sizeof(*walk));
    if (!walk || allocate(walk, machine) < 0) {
        walk_free(walk);
        return NULL;
    }
    cores = &walk->level[walk->depth - 1];
    for (size_t i = 0; i < cores->count; i++)
        cores->entity[i].idle = cores->entity[i].parent >= open;
    begin_round(walk);
    for (size_t i = 0; i < walk->depth; i++)
        for (size_t j = 0; j < walk->level[i].count; j++)
            walk->level[i].used += walk->level[i].entity[j].room[ANYBODY] > 0;
    if (walk->level[0].used > 0)
        return walk;
    walk_free(walk);
    errno = EINVAL;
    return NULL;
}

void walk_free(struct walk *walk)
{
    if (!walk)
        return;
    for (size_t i = 0; walk->level && i < walk->depth; i++)
        free(walk->level[i].entity);
    free(walk->level);
    free(walk);
}

/* Line 3 of the algorithms: the first child with the fewest threads, of those with room. */
static size_t choose(const struct level *level, const struct entity *parent, int kind)
{
    size_t n = parent[1].children - parent[0].children, best = level->count;

    for (size_t i = 0; i < n; i++) {
        size_t child = level->reversed ? parent[1].children - 1 - i : parent[0].children + i;
        const struct entity *entity = &level->entity[child];

        if (entity->room[kind] > 0 &&
            (best == level->count || entity->threads < level->entity[best].threads))
            best = child;
    }
    return best;
}

/* Count the thread; reverse the order when all entities hold the same number. */
static void count_thread(struct level *level, struct entity *entity)
{
    entity->threads++;
    if (entity->threads > level->greatest) {
        level->greatest = entity->threads;
        level->at_greatest = 0;
    }
    if (entity->threads == level->greatest)
        level->at_greatest++;
    if (level->at_greatest == level->used)
        level->reversed = !level->reversed;
}

/* The entity of level i of the walk above the core. */
static struct entity *above(const struct walk *walk, size_t i, size_t core)
{
    struct entity *entity = &walk->level[walk->depth - 1].entity[core];

    for (size_t j = walk->depth - 1; j > i; j--)
        entity = &walk->level[j - 1].entity[entity->parent];
    return entity;
}

/* Take so much room of that kind from the entity and from its containers. */
static void take_room(struct walk *walk, size_t i, struct entity *entity, int kind, size_t room)
{
    entity->room[kind] -= room;
    for (; i > 0; i--) {
        entity = &walk->level[i - 1].entity[entity->parent];
        entity->room[kind] -= room;
    }
}

size_t walk_choose(struct walk *walk, bool devil)
{
    const struct entity *container = &walk->level[0].entity[0];
    size_t child = 0;
    int kind;

    if (container->room[ANYBODY] == 0)
        begin_round(walk);
    kind = devil && container->room[DEVIL] > 0 ? DEVIL : ANYBODY;
    for (size_t i = 1; i < walk->depth; i++) {
        child = choose(&walk->level[i], container, kind);
        container = &walk->level[i].entity[child];
    }
    return child;
}

void walk_take(struct walk *walk, size_t core)
{
    struct entity *entity = above(walk, walk->depth - 1, core);
    bool barred = false;

    for (size_t i = 1; i < walk->depth; i++) {
        count_thread(&walk->level[i], above(walk, i, core));
        barred = barred || above(walk, i, core)->barred;
    }
    take_room(walk, walk->depth - 1, entity, ANYBODY, 1);
    if (!barred)
        take_room(walk, walk->depth - 1, entity, DEVIL, 1);
}

/* Free cores for devils below the entity of level i of the walk above the core. */
static size_t devil_room(const struct walk *walk, size_t i, size_t core)
{
    for (size_t j = 0; j < i; j++)
        if (above(walk, j, core)->barred)
            return 0;
    return above(walk, i, core)->room[DEVIL];
}

void walk_bar(struct walk *walk, size_t level, size_t core)
{
    struct entity *entity = above(walk, level + 1, core);

    take_room(walk, level + 1, entity, DEVIL, devil_room(walk, level + 1, core));
    entity->barred = true;
    entity->room[DEVIL] = 0;
}

/* ---- ranks ---- */

struct rank {
    double miss_pmi;
    size_t index;
};

static int compare(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    if (x->miss_pmi != y->miss_pmi)
        return x->miss_pmi < y->miss_pmi ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

int walk_rank(size_t n, const double *miss_pmi, size_t *order)
{
    struct rank *rank = calloc(n + 1, sizeof(*rank)); /* + 1: calloc(0) may be NULL */

    if (!rank)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(miss_pmi[i]) || miss_pmi[i] < 0) {
            free(rank);
            errno = EINVAL;
            return -1;
        }
        rank[i] = (struct rank){.miss_pmi = miss_pmi[i], .index = i};
    }
    qsort(rank, n, sizeof(*rank), compare);
    for (size_t i = 0; i < n; i++)
        order[i] = rank[i].index;
    free(rank);
    return 0;
}
