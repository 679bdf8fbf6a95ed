/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/partition/partition.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/partition/bound.h"
#include "models/partition/exact.h"
#include "models/partition/matching.h"
#include "models/partition/search.h"

#define CLOSED 1e-9 /* a gap this small, of the total, is rounding */
#define ROUNDS 20   /* of the search, to one step of the bound */
#define PATIENCE 50 /* rounds for each program without anything better */

/* ---- what is asked ---- */

static size_t cores_of(const struct partition *p, size_t program)
{
    return p->cores ? p->cores[program] : 1;
}

static size_t room_of(const struct partition *p, size_t group)
{
    return p->room ? p->room[group] : p->group;
}

/* Returns whether all programs take one core, and all caches are alike. */
static bool is_even(const struct partition *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (cores_of(p, i) != 1)
            return false;
    for (size_t g = 1; p->room && g < p->groups; g++)
        if (p->room[g] != p->room[0])
            return false;
    return true;
}

static bool start_fits(const struct partition *p)
{
    for (size_t i = 0; i < p->n; i++) {
        size_t used = 0;

        for (size_t j = 0; j < p->n; j++)
            used += p->start[j] == p->start[i] ? cores_of(p, j) : 0;
        if (p->start[i] >= p->groups || cores_of(p, i) == 0 || used > room_of(p, p->start[i]))
            return false;
    }
    return true;
}

/* Returns whether the programs take one core each, and there are as many. */
static bool singles_fit(const struct partition *p)
{
    size_t room = 0;

    for (size_t i = 0; i < p->n; i++)
        if (cores_of(p, i) != 1)
            return false;
    for (size_t g = 0; g < p->groups && room < p->n && (p->room || p->group > 0); g++)
        room += room_of(p, g) < p->n ? room_of(p, g) : p->n;
    return room >= p->n;
}

/* Numbers the groups in the order of their first members. */
static void number_groups(size_t n, const size_t *from, size_t *to)
{
    size_t groups = 0;

    for (size_t i = 0; i < n; i++) {
        size_t j = 0;

        while (from[j] != from[i])
            j++;
        to[i] = j < i ? to[j] : groups++;
    }
}

/* Fills in what may be absent, with no more caches than can be of use. Returns the memory that it
 * is in, NULL with errno ENOMEM. */
static size_t *complete(struct partition *p)
{
    bool even = is_even(p);
    size_t n = p->n, *cores, *kind, *start, *room, all = 0;

    p->groups = even && p->groups > n ? n : p->groups;
    cores = calloc(3 * n + p->groups, sizeof(*cores));
    if (!cores)
        return NULL;
    kind = cores + n;
    start = kind + n;
    room = start + n;
    for (size_t i = 0; i < n; i++) {
        all += cores[i] = cores_of(p, i);
        kind[i] = p->kind ? p->kind[i] : i;
        start[i] = p->start ? p->start[i] : 0;
    }
    for (size_t g = 0; g < p->groups; g++)
        room[g] = room_of(p, g) < all ? room_of(p, g) : all;
    if (p->start && even)
        number_groups(n, p->start, start);
    p->cores = cores;
    p->kind = kind;
    p->start = p->start ? start : NULL;
    p->room = room;
    p->group = room[0];
    return cores;
}

/* ---- two cores per cache ---- */

/* Fills in what each of a pair suffers more than alone: half of it, as a matching takes the sum of
 * both. */
static void fill_pairs(struct costs *costs, double *alone, double *degradation)
{
    size_t n = costs->partition->n;

    for (size_t i = 0; i < n; i++)
        alone[i] = costs_of(costs, &i, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double both = costs_of(costs, (const size_t[]){j, i}, 2) - alone[i] - alone[j];

            degradation[i * n + j] = degradation[j * n + i] = both / 2;
        }
}

static int solve_pairs(struct costs *costs, size_t *group_of)
{
    size_t n = costs->partition->n, groups = 0, *mate = calloc(n, sizeof(*mate));
    double *alone = calloc(n, sizeof(*alone)), total;
    double *degradation = calloc(n * n, sizeof(*degradation));
    int rc = -1;

    if (mate && alone && degradation) {
        fill_pairs(costs, alone, degradation);
        rc = matching_pairs(n, degradation, costs->partition->groups, mate, &total);
    }
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (mate[i] >= i)
            group_of[i] = group_of[mate[i]] = groups++;
    free(mate);
    free(alone);
    free(degradation);
    return rc;
}

/* ---- many programs ---- */

static bool is_closed(double total, const struct bound *bound)
{
    return bound && bound_best(bound) >= total - CLOSED * fabs(total);
}

/* Lets search and bound (NULL: none) go on in turns, until they meet, or it is time to stop, or
 * neither gains anything. */
static void approach(const struct costs *costs, struct search *search, struct bound *bound)
{
    const struct partition *p = costs->partition;
    size_t failures = 0, patience = p->patience ? p->patience : PATIENCE * p->n;
    bool rising = bound;

    while ((rising || failures < patience) && !costs_stopped(costs)) {
        for (unsigned i = 0; i < ROUNDS && failures < patience && !costs_stopped(costs); i++)
            failures = search_again(search) ? 0 : failures + 1;
        if (rising)
            rising = bound_raise(bound, search_best(search, NULL));
        if (is_closed(search_best(search, NULL), bound))
            return;
    }
}

static int solve_many(struct costs *costs, size_t *group_of, struct partition_found *found)
{
    struct bound *bound = NULL;
    struct search *search = NULL;
    int rc = costs_of_pairs(costs);

    if (rc == 0 && is_even(costs->partition)) {
        bound = bound_new(costs);
        rc = bound ? 0 : -1;
    }
    if (rc == 0) {
        search = search_new(costs);
        rc = search ? 0 : -1;
    }
    if (rc == 0) {
        if (bound)
            bound_begin(bound, search_best(search, NULL));
        approach(costs, search, bound);
        found->total = search_best(search, group_of);
        found->optimal = is_closed(found->total, bound);
        found->bound = bound ? bound_best(bound) : -INFINITY;
        found->stopped = !found->optimal && costs_stopped(costs);
    }
    bound_free(bound);
    search_free(search);
    return rc;
}

/* ---- all ---- */

static int solve(struct costs *costs, size_t *group_of, struct partition_found *found)
{
    const struct partition *p = costs->partition;
    bool even = is_even(p);
    int rc = 1;

    found->optimal = true;
    if (p->groups == 1 || (even && p->group == 1)) {
        for (size_t i = 0; i < p->n; i++)
            group_of[i] = p->groups == 1 ? 0 : i;
        return 0;
    }
    if (even && p->group == 2)
        return solve_pairs(costs, group_of);
    if (p->n <= PARTITION_EXACT_ANY_MAX)
        rc = exact_solve(costs, group_of);
    if (rc != 1)
        return rc;
    rc = solve_many(costs, group_of, found);
    if (rc == 0 && !found->optimal && !found->stopped && p->bound_groups > 0 && p->pairwise &&
        even && p->n <= PARTITION_EXACT_MAX) {
        rc = exact_solve(costs, group_of);
        found->optimal = rc == 0;
    }
    return rc < 0 ? -1 : 0;
}

static int solve_some(const struct partition *p, size_t *group_of, struct partition_found *found)
{
    struct costs costs;
    int rc = costs_init(&costs, p);

    if (rc == 0)
        rc = solve(&costs, group_of, found);
    costs_clear(&costs);
    return rc;
}

double partition_pairs_cost(const size_t *members, size_t n, void *arg)
{
    const struct partition_pairs *pairs = arg;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            sum += pairs->degradation[members[i] * pairs->n + members[j]] +
                   pairs->degradation[members[j] * pairs->n + members[i]];
    return sum;
}

double partition_cost(const struct partition *p, const size_t *group_of)
{
    size_t *member = calloc(p->n + 1, sizeof(*member)); /* + 1: calloc(0) may be NULL */
    double sum = member ? 0 : NAN;

    for (size_t i = 0; member && i < p->n; i++) {
        size_t n = 0;

        for (size_t j = 0; j < p->n; j++)
            if (group_of[j] == group_of[i])
                member[n++] = j;
        if (member[0] == i)
            sum += p->cost(member, n, p->arg);
    }
    free(member);
    return sum;
}

int partition_solve(const struct partition *partition, size_t *group_of,
                    struct partition_found *found)
{
    struct partition p = *partition;
    struct partition_found result = {.optimal = true};
    size_t *whole, *raw;
    int rc = -1;

    if (p.n == 0) {
        *found = result;
        return 0;
    }
    if (p.n > PARTITION_PROGRAMS_MAX || !(p.start ? start_fits(&p) : singles_fit(&p))) {
        errno = EINVAL;
        return -1;
    }
    whole = complete(&p);
    raw = calloc(2 * p.n, sizeof(*raw));
    if (whole && raw)
        rc = solve_some(&p, raw, &result);
    if (rc == 0) {
        result.total = partition_cost(&p, raw);
        rc = isnan(result.total) ? -1 : 0;
    }
    if (rc == 0) {
        number_groups(p.n, raw, raw + p.n);
        memcpy(group_of, partition->room ? raw : raw + p.n, p.n * sizeof(*group_of));
        if (result.optimal)
            result.bound = result.total;
        *found = result;
    }
    free(whole);
    free(raw);
    return rc;
}
