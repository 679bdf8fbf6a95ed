/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exact - see exact.h
 *
 * best[k][set]: the least cost of `set` in the k roomiest caches. The last of these has one of its
 * subsets, the other ones have the rest; where the caches are alike, that subset has the first
 * program of the set. So at most 3^n / 2 steps (3^n) for each cache. */
#include "models/partition/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct exact {
    struct costs *costs;
    const struct partition *partition;
    unsigned all;                      /* the set of all programs */
    size_t caches;                     /* no more than programs: further ones are of no use */
    size_t cache[PARTITION_EXACT_MAX]; /* the roomiest, in that order */
    size_t room[PARTITION_EXACT_MAX];  /* of each of these */
    size_t *cores;                     /* [all + 1] of a set */
    double *cost;                      /* [all + 1] of a group; INFINITY if it is too large */
    double *best;                      /* [(caches + 1) * (all + 1)] */
};

static double *best_of(const struct exact *e, size_t caches)
{
    return &e->best[caches * ((size_t)e->all + 1)];
}

static void choose_caches(struct exact *e)
{
    const struct partition *p = e->partition;

    for (size_t i = 0; i < p->groups; i++) {
        size_t at = e->caches;

        while (at > 0 && e->room[at - 1] < p->room[i])
            at--;
        if (at == p->n)
            continue;
        e->caches += e->caches < p->n;
        memmove(&e->cache[at + 1], &e->cache[at], (e->caches - at - 1) * sizeof(e->cache[0]));
        memmove(&e->room[at + 1], &e->room[at], (e->caches - at - 1) * sizeof(e->room[0]));
        e->cache[at] = i;
        e->room[at] = p->room[i];
    }
}

/* Returns 0, or 1 when it was stopped. */
static int find_costs(struct exact *e)
{
    const struct partition *p = e->partition;

    for (unsigned set = 1; set <= e->all; set++) {
        size_t member[PARTITION_EXACT_MAX], n = 0;

        e->cost[set] = INFINITY;
        for (size_t i = 0; i < p->n; i++)
            if (set >> i & 1) {
                member[n++] = i;
                e->cores[set] += p->cores[i];
            }
        if (e->cores[set] > e->room[0])
            continue;
        e->cost[set] = costs_of(e->costs, member, n);
        if (costs_stopped(e->costs))
            return 1;
    }
    return 0;
}

/* Returns the best group for cache k when those before it have the rest of the set, and the cost
 * of all in *cost. */
static unsigned best_last(const struct exact *e, unsigned set, size_t k, double *cost)
{
    const double *before = best_of(e, k);
    unsigned first = e->room[k] == e->room[0] ? set & -set : 0, others = set ^ first, best = 0;

    *cost = INFINITY;
    for (unsigned more = others;; more = (more - 1) & others) {
        unsigned group = first | more;
        double found = e->cost[group] + before[set ^ group];

        if (found < *cost && e->cores[group] <= e->room[k]) {
            *cost = found;
            best = group;
        }
        if (more == 0)
            return best;
    }
}

/* Looks at the sets alone that fit into the caches so far and leave no more than fits into the
 * others. Returns 0, or 1 when it was stopped. */
static int find_best(struct exact *e)
{
    size_t fits = 0, left = 0;

    for (size_t k = 0; k < e->caches; k++)
        left += e->room[k];
    for (unsigned set = 1; set <= e->all; set++)
        best_of(e, 0)[set] = INFINITY;
    for (size_t k = 0; k < e->caches; k++) {
        fits += e->room[k];
        left -= e->room[k];
        for (unsigned set = 1; set <= e->all; set++) {
            double *best = &best_of(e, k + 1)[set];

            *best = INFINITY;
            if (e->cores[set] > fits || e->cores[e->all ^ set] > left)
                continue;
            best_last(e, set, k, best);
            if (costs_stopped(e->costs))
                return 1;
        }
    }
    return 0;
}

static int alloc(struct exact *e)
{
    size_t sets = (size_t)e->all + 1;

    e->cores = calloc(sets, sizeof(*e->cores));
    e->cost = calloc(sets, sizeof(*e->cost));
    e->best = calloc((e->caches + 1) * sets, sizeof(*e->best));
    return e->cores && e->cost && e->best ? 0 : -1;
}

int exact_solve(struct costs *costs, size_t *group_of)
{
    const struct partition *p = costs->partition;
    struct exact e = {.costs = costs, .partition = p, .all = (1u << p->n) - 1};
    unsigned set = e.all;
    int rc;

    choose_caches(&e);
    rc = alloc(&e);
    if (rc == 0)
        rc = find_costs(&e);
    if (rc == 0)
        rc = find_best(&e);
    for (size_t k = e.caches; rc == 0 && set != 0; k--) {
        double cost;
        unsigned group = best_last(&e, set, k - 1, &cost);

        for (size_t i = 0; i < p->n; i++)
            if (group >> i & 1)
                group_of[i] = e.cache[k - 1];
        set ^= group;
    }
    free(e.cores);
    free(e.cost);
    free(e.best);
    return rc;
}
