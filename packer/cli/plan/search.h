/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan - divide programs among caches so that they suffer least from each other: exactly where that
 * is cheap, else by a bounded search.
 *
 * Two to a cache: a matching (models/partition/matching.h). A few programs: all divisions, by dynamic
 * programming over sets. Else: from a given start, exchanges and moves until none helps, and the
 * same again after random disturbances (of a fixed seed: equal input, equal result, unless time
 * runs out). */
#ifndef BERTH_CLI_PLAN_SEARCH_H
#define BERTH_CLI_PLAN_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#define PLAN_EXACT_MAX 12 /* programs of which all divisions are tried */

struct plan_problem {
    size_t n;
    const size_t *cores; /* [n] cores that each program takes, of one cache */
    const size_t *kind;  /* [n] programs of the same kind are the same to the cost */
    size_t caches;
    const size_t *room; /* [caches] cores of each */
    /* What n >= 1 programs on one cache suffer together; finite. */
    double (*cost)(void *context, size_t n, const size_t *member);
    void *context;
    bool pairwise; /* the cost is the sum of the costs of all pairs, one alone costs nothing */
};

struct plan_result {
    double cost;
    bool exact;   /* proven: no division costs less */
    bool cut_off; /* the time limit ended the search */
};

/* Improve the division cache[i], which must fit, in about limit_s seconds at most. 0, or -1 with
 * errno (ENOMEM), cache[] then unchanged. */
int plan_search(const struct plan_problem *problem, double limit_s, size_t *cache,
                struct plan_result *result);

/* What that division costs. */
double plan_cost(const struct plan_problem *problem, const size_t *cache);

#endif
