/* SPDX-License-Identifier: GPL-2.0-or-later */
/* subsets - see partition/exact.h
 *
 * best[g][set]: the least cost of `set` in at most g groups. The group of the first program of the
 * set is one of its subsets; the rest goes into g - 1 groups. At most 3^n / 2 steps for each g. */
#include "models/partition/exact.h"

#include <math.h>
#include <stdlib.h>

struct subsets {
    const struct partition *partition;
    unsigned all;  /* the set of all programs */
    double *cost;  /* [all + 1] of a group; INFINITY if it is too large */
    double **best; /* [groups + 1][all + 1] */
};

static size_t size(unsigned set)
{
    return (size_t)__builtin_popcount(set);
}

static bool stopped(const struct subsets *s)
{
    return s->partition->stop && s->partition->stop(s->partition->stop_arg);
}

/* 0, or 1 when it was stopped. */
static int find_costs(struct subsets *s)
{
    s->cost[0] = 0;
    for (unsigned set = 1; set <= s->all; set++) {
        size_t members[PARTITION_EXACT_MAX], n = 0;

        s->cost[set] = INFINITY;
        if (size(set) > s->partition->group)
            continue;
        for (size_t i = 0; i < s->partition->n; i++)
            if (set >> i & 1)
                members[n++] = i;
        s->cost[set] = s->partition->cost(members, n, s->partition->arg);
        if (stopped(s))
            return 1;
    }
    return 0;
}

/* The best group of the first program of the set, when the rest goes into `groups` groups; its
 * cost, with the rest's, in *cost. */
static unsigned best_first(const struct subsets *s, unsigned set, size_t groups, double *cost)
{
    unsigned first = set & -set, others = set ^ first, best = 0;

    *cost = INFINITY;
    for (unsigned more = others;; more = (more - 1) & others) {
        double found = s->cost[first | more] + s->best[groups][others ^ more];

        if (found < *cost) {
            *cost = found;
            best = first | more;
        }
        if (more == 0)
            return best;
    }
}

/* Only sets that fit into g groups, and leave no more than fits into the others, can matter. */
static int find_best(struct subsets *s)
{
    const struct partition *p = s->partition;

    for (unsigned set = 1; set <= s->all; set++)
        s->best[0][set] = INFINITY;
    for (size_t g = 1; g <= p->groups; g++)
        for (unsigned set = 1; set <= s->all; set++) {
            s->best[g][set] = INFINITY;
            if (size(set) > g * p->group || p->n - size(set) > (p->groups - g) * p->group)
                continue;
            best_first(s, set, g - 1, &s->best[g][set]);
            if (stopped(s))
                return 1;
        }
    return 0;
}

static int alloc(struct subsets *s)
{
    size_t sets = (size_t)s->all + 1;

    s->cost = calloc(sets, sizeof(*s->cost));
    s->best = calloc(s->partition->groups + 1, sizeof(*s->best));
    if (!s->cost || !s->best)
        return -1;
    for (size_t g = 0; g <= s->partition->groups; g++) {
        s->best[g] = calloc(sets, sizeof(**s->best));
        if (!s->best[g])
            return -1;
    }
    return 0;
}

int subsets_solve(const struct partition *partition, size_t *group_of)
{
    struct subsets s = {.partition = partition, .all = (1u << partition->n) - 1};
    int rc = alloc(&s);

    if (rc == 0)
        rc = find_costs(&s);
    if (rc == 0)
        rc = find_best(&s);
    if (rc == 0)
        for (size_t set = s.all, g = partition->groups; set != 0; g--) {
            double cost;
            unsigned group = best_first(&s, (unsigned)set, g - 1, &cost);

            for (size_t i = 0; i < partition->n; i++)
                if (group >> i & 1)
                    group_of[i] = partition->groups - g;
            set ^= group;
        }
    for (size_t g = 0; s.best && g <= partition->groups; g++)
        free(s.best[g]);
    free(s.best);
    free(s.cost);
    return rc;
}
