/* SPDX-License-Identifier: GPL-2.0-or-later */
/* siblings - see siblings.h */
#include "lab/plan/siblings.h"

#include <stdlib.h>

#include "models/placing/cosit.h"

/* The threads of units on one cache. */
struct threads {
    size_t n;
    size_t of[COSIT_MAX];    /* member */
    size_t whole[COSIT_MAX]; /* the core that it gets */
    double use[COSIT_MAX];
};

static double use_of(const struct ctl_plan *plan, size_t unit)
{
    return plan->contend ? contend_use(plan->contend, unit) : 1;
}

/* Returns the hardware cores of a cache. Caches are taken to be alike, as elsewhere in a plan. */
static size_t cores_of_cache(const struct ctl_plan *plan)
{
    return (topo_wholes(plan->topo) + plan->topo->llcs - 1) / plan->topo->llcs;
}

void ctl_plan_share_cores(const struct ctl_plan *plan, size_t n, const size_t *member,
                          double *slowdown)
{
    struct threads threads = {0};

    if (!plan->topo->split)
        return;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < plan->unit_cores[member[i]] && threads.n < COSIT_MAX; j++) {
            threads.use[threads.n] = use_of(plan, member[i]);
            threads.of[threads.n++] = i;
        }
    cosit_divide(threads.n, threads.use, cores_of_cache(plan), threads.whole);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;

        for (size_t t = 0; t < threads.n; t++)
            for (size_t u = 0; threads.of[t] == i && u < threads.n; u++)
                if (u != t && threads.whole[u] == threads.whole[t])
                    sum += contend_sibling(plan->contend, member[i], member[threads.of[u]]);
        slowdown[i] = (1 + slowdown[i]) * (1 + sum / (double)plan->unit_cores[member[i]]) - 1;
    }
}

/* ---- places ---- */

/* Returns the unit that has the i-th core of a placement. */
static size_t unit_at(const struct ctl_plan *plan, size_t i)
{
    size_t unit = 0;

    while (unit + 1 < plan->units && plan->unit[unit + 1].first <= i)
        unit++;
    return unit;
}

/* Gives those on the cache whose places are the tree's [first, end) theirs. */
static void seat_cache(const struct ctl_plan *plan, size_t first, size_t end, size_t *core,
                       bool *taken)
{
    const struct topo_core *of = plan->topo->core;
    const size_t *index = plan->tree.core_index;
    struct threads threads = {0};

    for (size_t i = 0; i < plan->cores && threads.n < COSIT_MAX; i++)
        if (core[i] >= first && core[i] < end) {
            threads.use[threads.n] = use_of(plan, unit_at(plan, i));
            threads.of[threads.n++] = i;
        }
    if (threads.n == COSIT_MAX)
        return;
    cosit_divide(threads.n, threads.use, of[index[end - 1]].whole - of[index[first]].whole + 1,
                 threads.whole);
    for (size_t t = 0; t < threads.n; t++) {
        size_t at = first;

        while (taken[at] || of[index[at]].whole != of[index[first]].whole + threads.whole[t])
            at++;
        taken[at] = true;
        core[threads.of[t]] = at;
    }
}

int ctl_plan_seat(const struct ctl_plan *plan, size_t *core)
{
    const struct di_level *level = &plan->tree.level[TOPO_CORE];
    bool *taken;

    if (!plan->topo->split)
        return 0;
    taken = calloc(level->count, sizeof(*taken));
    if (!taken)
        return -1;
    for (size_t first = 0, end; first < level->count; first = end) {
        for (end = first; end < level->count && level->parent[end] == level->parent[first];)
            end++;
        seat_cache(plan, first, end, core, taken);
    }
    free(taken);
    return 0;
}

/* ---- notes ---- */

void ctl_plan_note_siblings(struct ctl_plan *plan)
{
    for (size_t i = 0; i < plan->cores; i++)
        for (size_t j = i + 1; j < plan->cores; j++) {
            size_t a = plan->tree.core_index[plan->core[i]];
            size_t b = plan->tree.core_index[plan->core[j]];

            if (topo_siblings(plan->topo, a, b))
                ctl_plan_note(plan, "%s and %s share a core: CPUs %zu and %zu",
                              plan->apps.name[plan->unit[unit_at(plan, i)].app],
                              plan->apps.name[plan->unit[unit_at(plan, j)].app],
                              cpus_next(&plan->topo->core[a].cpus, 0),
                              cpus_next(&plan->topo->core[b].cpus, 0));
        }
}
