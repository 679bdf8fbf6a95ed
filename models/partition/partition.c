/* SPDX-License-Identifier: GPL-2.0-or-later */
/* partition - see partition.h */
#include "models/partition/partition.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/partition/bound.h"
#include "models/partition/exact.h"
#include "models/partition/matching.h"
#include "models/partition/search.h"

#define CLOSED 1e-9 /* a gap this small, of the total, is rounding */
#define ROUNDS 20   /* of the search, to one step of the bound */
#define PATIENCE 50 /* rounds for each program without anything better */

static bool stopped(const struct partition *p)
{
    return p->stop && p->stop(p->stop_arg);
}

/* ---- two cores per cache ---- */

/* What each of a pair suffers more than alone: half of it, as a matching takes the sum of both. */
static void fill_pairs(const struct partition *p, double *alone, double *degradation)
{
    for (size_t i = 0; i < p->n; i++)
        alone[i] = p->cost(&i, 1, p->arg);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < i; j++) {
            double both = p->cost((const size_t[]){j, i}, 2, p->arg) - alone[i] - alone[j];

            degradation[i * p->n + j] = degradation[j * p->n + i] = both / 2;
        }
}

static int solve_pairs(const struct partition *p, size_t *group_of)
{
    double *alone = calloc(p->n, sizeof(*alone)), total;
    double *degradation = calloc(p->n * p->n, sizeof(*degradation));
    int rc = -1;

    if (alone && degradation) {
        fill_pairs(p, alone, degradation);
        rc = matching_pairs(p->n, degradation, p->groups, group_of, &total);
    }
    /* group_of[i] is i's mate so far; the lower number of a pair can be the group's */
    for (size_t i = 0; rc == 0 && i < p->n; i++)
        if (group_of[i] > i)
            group_of[i] = i;
    free(alone);
    free(degradation);
    return rc;
}

/* ---- many programs ---- */

static bool is_closed(double total, double bound)
{
    return bound >= total - CLOSED * fabs(total);
}

/* Search and bound in turns, until they meet, or it is time to stop, or neither gains anything. */
static void approach(const struct partition *p, struct exchange *exchange, struct bound *bound)
{
    size_t failures = 0, patience = PATIENCE * p->n;
    bool rising = true;

    while ((rising || failures < patience) && !stopped(p)) {
        for (unsigned i = 0; i < ROUNDS && failures < patience && !stopped(p); i++)
            failures = exchange_again(exchange) ? 0 : failures + 1;
        if (rising)
            rising = bound_raise(bound, exchange_best(exchange, NULL));
        if (is_closed(exchange_best(exchange, NULL), bound_best(bound)))
            return;
    }
}

static int solve_many(const struct partition *p, size_t *group_of, struct partition_found *found)
{
    struct bound *bound = bound_new(p);
    struct exchange *exchange = bound ? exchange_new(p) : NULL;
    int rc = -1;

    if (exchange) {
        bound_begin(bound, exchange_best(exchange, NULL));
        approach(p, exchange, bound);
        found->total = exchange_best(exchange, group_of);
        found->optimal = is_closed(found->total, bound_best(bound));
        found->bound = found->optimal ? found->total : bound_best(bound);
        rc = 0;
    }
    bound_free(bound);
    exchange_free(exchange);
    return rc;
}

/* ---- all ---- */

/* Number the groups in the order of their first members. */
static void number_groups(size_t n, const size_t *from, size_t *to, size_t *number)
{
    size_t groups = 0;

    for (size_t i = 0; i < n; i++)
        number[i] = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (number[from[i]] == SIZE_MAX)
            number[from[i]] = groups++;
        to[i] = number[from[i]];
    }
}

/* What the groups cost; scratch has room for n members. */
static double sum(const struct partition *p, const size_t *group_of, size_t *scratch)
{
    double total = 0;

    for (size_t g = 0; g < p->n; g++) {
        size_t size = 0;

        for (size_t i = 0; i < p->n; i++)
            if (group_of[i] == g)
                scratch[size++] = i;
        if (size == 0)
            break;
        total += p->cost(scratch, size, p->arg);
    }
    return total;
}

static bool is_sound(const struct partition *p)
{
    size_t size[2] = {0};

    if (p->n > PARTITION_PROGRAMS_MAX || (p->n > 0 && (p->group == 0 || p->groups == 0)))
        return false;
    if (p->n > 0 && p->groups < (p->n - 1) / p->group + 1)
        return false;
    for (size_t g = 0; p->start && g < p->groups && g < p->n; g++) {
        size[0] = 0;
        for (size_t i = 0; i < p->n; i++)
            size[0] += p->start[i] == g;
        size[1] += size[0];
        if (size[0] > p->group)
            return false;
    }
    return !p->start || size[1] == p->n;
}

/* Solve with group and groups at most n. */
static int solve(const struct partition *p, size_t *group_of, struct partition_found *found)
{
    int rc = 1;

    found->optimal = true;
    if (p->group == 1 || p->groups == 1) {
        for (size_t i = 0; i < p->n; i++)
            group_of[i] = p->group == 1 ? i : 0;
        return 0;
    }
    if (p->group == 2)
        return solve_pairs(p, group_of);
    if (p->n <= PARTITION_EXACT_MAX)
        rc = subsets_solve(p, group_of);
    return rc == 1 ? solve_many(p, group_of, found) : rc;
}

int partition_solve(const struct partition *partition, size_t *group_of,
                    struct partition_found *found)
{
    struct partition p = *partition;
    struct partition_found result = {0};
    size_t *raw, *numbered;
    int rc = -1;

    if (!is_sound(partition)) {
        errno = EINVAL;
        return -1;
    }
    p.group = p.group < p.n ? p.group : p.n;
    p.groups = p.groups < p.n ? p.groups : p.n;
    raw = calloc(2 * p.n + 1, sizeof(*raw)); /* + 1: calloc(0) may be NULL */
    numbered = calloc(p.n + 1, sizeof(*numbered));
    if (raw && numbered)
        rc = p.n > 0 ? solve(&p, raw, &result) : 0;
    if (rc == 0) {
        number_groups(p.n, raw, numbered, raw + p.n);
        result.total = sum(&p, numbered, raw);
        if (result.optimal || p.n == 0)
            result.bound = result.total;
        result.optimal = result.optimal || p.n == 0;
        memcpy(group_of, numbered, p.n * sizeof(*group_of));
        *found = result;
    }
    free(raw);
    free(numbered);
    return rc;
}
