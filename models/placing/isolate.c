/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/placing/isolate.h"

#include <errno.h>
#include <stdlib.h>

#include "models/placing/di_tree.h"

struct placing {
    const struct isolate_unit *unit;
    size_t n, level;
    double devil_miss_pmi;
    struct di_tree *tree;
    struct di_ranked *ranked; /* [n] by descending miss rate */
    size_t *core;             /* [cores of all units] the caller's */
    size_t *spot;             /* [cores of all units] of one group */
    bool *isolated;           /* [n] the caller's */
    size_t devils;            /* cores of devils that are not placed yet */
};

/* What is to be placed of a group. */
struct group {
    size_t number;
    size_t cores, devils; /* of these, of devils */
};

static bool is_devil(const struct placing *p, size_t unit)
{
    return p->unit[unit].unit.miss_pmi >= p->devil_miss_pmi;
}

static bool belongs(const struct placing *p, const struct group *group, size_t unit)
{
    return p->unit[unit].prioritised && p->unit[unit].sensitive &&
           p->unit[unit].group == group->number;
}

static struct group group_of(const struct placing *p, size_t number)
{
    struct group group = {.number = number};

    for (size_t i = 0; i < p->n; i++) {
        if (!belongs(p, &group, i))
            continue;
        group.cores += p->unit[i].unit.cores;
        group.devils += is_devil(p, i) ? p->unit[i].unit.cores : 0;
    }
    return group;
}

/* Spreads the units of the group over the domains above the spot that was found for all of them. */
static void settle(struct placing *p, struct di_tree *tree, const struct group *group)
{
    di_tree_target(tree, p->level, group->cores, p->spot, true);
    for (size_t i = 0; i < p->n; i++) {
        const struct di_ranked *ranked = &p->ranked[i];

        if (!belongs(p, group, ranked->unit))
            continue;
        di_tree_place(tree, ranked->cores, DI_TREE_TARGET, p->core + ranked->first);
        p->isolated[ranked->unit] = true;
    }
    di_tree_target(tree, p->level, group->cores, p->spot, false);
    p->devils -= group->devils;
}

/* Finds the group domains of that kind and places it there, if the devils that are left still have
 * room. Returns 1 done, 0 no room, -1 out of memory. */
static int try_kind(struct placing *p, const struct group *group, enum di_tree_kind kind)
{
    struct di_tree *probe, *next;
    bool fits;

    if (di_tree_room(p->tree, kind) < group->cores)
        return 0;
    probe = di_tree_copy(p->tree);
    next = di_tree_copy(p->tree);
    if (!probe || !next) {
        di_tree_free(probe);
        di_tree_free(next);
        return -1;
    }
    di_tree_place(probe, group->cores, kind, p->spot);
    if (kind == DI_TREE_OPEN)
        di_tree_close(probe, p->level, group->cores, p->spot, false);
    fits = di_tree_room(probe, DI_TREE_OPEN) >= p->devils - group->devils;
    di_tree_free(probe);
    if (!fits) {
        di_tree_free(next);
        return 0;
    }
    settle(p, next, group);
    if (kind == DI_TREE_OPEN)
        di_tree_close(next, p->level, group->cores, p->spot, group->devils == 0);
    di_tree_free(p->tree);
    p->tree = next;
    return 1;
}

/* Places those of the chosen that can be isolated, each group once. Returns how many, or -1. */
static long place_chosen(struct placing *p, bool *tried)
{
    long count = 0;

    for (size_t i = 0; i < p->n; i++) {
        size_t unit = p->ranked[i].unit;
        struct group group;
        int done;

        if (tried[unit] || !p->unit[unit].prioritised || !p->unit[unit].sensitive)
            continue;
        group = group_of(p, p->unit[unit].group);
        for (size_t j = 0; j < p->n; j++)
            tried[j] = tried[j] || belongs(p, &group, j);
        done = try_kind(p, &group, DI_TREE_OPEN);
        if (done == 0 && group.devils == 0)
            done = try_kind(p, &group, DI_TREE_SHELTER);
        if (done < 0)
            return -1;
        count += done;
    }
    return count;
}

static void isolate_others(struct placing *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct di_ranked *ranked = &p->ranked[i];
        bool devil = is_devil(p, ranked->unit);

        if (!p->isolated[ranked->unit])
            di_tree_place(p->tree, ranked->cores, devil ? DI_TREE_OPEN : DI_TREE_ANYWHERE,
                          p->core + ranked->first);
    }
}

long isolate_place(const struct di_machine *machine, size_t level, double devil_miss_pmi, size_t n,
                   const struct isolate_unit *unit, size_t *core, bool *isolated)
{
    struct placing p = {.unit = unit,
                        .n = n,
                        .level = level,
                        .devil_miss_pmi = devil_miss_pmi,
                        .core = core,
                        .isolated = isolated};
    size_t cores = 1; /* + 1, here and below: calloc(0) may be NULL */
    bool *tried;
    long count = -1;

    if (!di_machine_is_sound(machine, level + 2)) {
        errno = EINVAL;
        return -1;
    }
    p.ranked = di_rank(n, unit, sizeof(*unit));
    if (!p.ranked)
        return -1;
    for (size_t i = 0; i < n; i++) {
        cores += unit[i].unit.cores;
        p.devils += is_devil(&p, i) ? unit[i].unit.cores : 0;
        isolated[i] = false;
    }
    tried = calloc(n + 1, sizeof(*tried));
    p.spot = calloc(cores, sizeof(*p.spot));
    p.tree = di_tree_new(machine);
    if (tried && p.spot && p.tree) {
        count = place_chosen(&p, tried);
        if (count >= 0)
            isolate_others(&p);
    }
    di_tree_free(p.tree);
    free(p.ranked);
    free(p.spot);
    free(tried);
    return count;
}

long isolate_place_best(const struct di_machine *machine, double devil_miss_pmi, size_t n,
                        const struct isolate_unit *unit, size_t *core, bool *isolated,
                        size_t *level)
{
    long most = -1;

    *level = 0;
    for (size_t i = 0; i + 2 <= machine->depth; i++) {
        long count = isolate_place(machine, i, devil_miss_pmi, n, unit, core, isolated);

        if (count < 0)
            return -1;
        if (count > most) {
            most = count;
            *level = i;
        }
    }
    return isolate_place(machine, *level, devil_miss_pmi, n, unit, core, isolated);
}
