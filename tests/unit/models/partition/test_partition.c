/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_partition - groups of any size: the exact way and the bound against plain enumeration of all
 * partitions, and what the search does with time, a start, and costs of any kind. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/partition/bound.h"
#include "models/partition/partition.h"
#include "models/partition/search.h"

#define SMALL_MAX 9
#define LARGE_MAX 64

/* The same sequence on every run and every machine (xorshift). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double next_fraction(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* Not a sum over pairs, and not zero alone: the largest of the members' demands, times their
 * number, and a gain for those whose numbers are alike. */
static double crowd_cost(const size_t *members, size_t n, void *arg)
{
    const struct partition_pairs *pairs = arg;
    double largest = 0, odd = 0;

    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, pairs->degradation[members[i]]);
        odd += (double)(members[i] % 2);
    }
    return largest * (double)(n * n) - odd * odd / 8;
}

enum kind { FRACTIONS, PRODUCTS, TIES, ZERO, KINDS };

static void fill(enum kind kind, size_t n, double *degradation, uint64_t *random)
{
    double intense[LARGE_MAX], sensitive[LARGE_MAX];

    for (size_t i = 0; i < n; i++) {
        intense[i] = next_fraction(random);
        sensitive[i] = next_fraction(random);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            switch (kind) {
            case FRACTIONS:
                degradation[i * n + j] = next_fraction(random);
                break;
            case PRODUCTS:
                degradation[i * n + j] = sensitive[i] * intense[j];
                break;
            case TIES:
                degradation[i * n + j] = (double)(next_random(random) % 4) - 1;
                break;
            default:
                degradation[i * n + j] = 0;
            }
}

/* ---- the reference: every partition there is ---- */

struct reference {
    const struct partition *partition;
    size_t group[SMALL_MAX][SMALL_MAX], size[SMALL_MAX], groups;
    double best;
};

static void enumerate(struct reference *r, size_t program)
{
    const struct partition *p = r->partition;
    size_t open = r->groups < p->groups ? r->groups + 1 : r->groups;
    double total = 0;

    if (program == p->n) {
        for (size_t g = 0; g < r->groups; g++)
            total += p->cost(r->group[g], r->size[g], p->arg);
        r->best = fmin(r->best, total);
        return;
    }
    for (size_t g = 0; g < open; g++) {
        size_t groups = r->groups;

        if (r->size[g] == p->group)
            continue;
        r->groups = g == groups ? groups + 1 : groups;
        r->group[g][r->size[g]++] = program;
        enumerate(r, program + 1);
        r->size[g]--;
        r->groups = groups;
    }
}

static double least(const struct partition *partition)
{
    struct reference reference = {.partition = partition, .best = INFINITY};

    enumerate(&reference, 0);
    return reference.best;
}

/* group_of is a partition of that problem, groups in the order of their first members; its cost. */
static double check_groups(const struct partition *p, const size_t *group_of, bool in_order)
{
    size_t members[LARGE_MAX], seen = 0;
    double total = 0;

    for (size_t i = 0; i < p->n; i++) {
        assert_true(group_of[i] < p->groups);
        if (in_order)
            assert_true(group_of[i] <= seen);
        seen += group_of[i] == seen;
    }
    for (size_t g = 0; g < p->groups && g < p->n; g++) {
        size_t size = 0;

        for (size_t i = 0; i < p->n; i++)
            if (group_of[i] == g)
                members[size++] = i;
        assert_true(size <= p->group);
        if (size > 0)
            total += p->cost(members, size, p->arg);
    }
    return total;
}

static bool alike(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(a));
}

/* ---- small ones ---- */

/* A problem of one of all kinds; `group` from 1. */
static struct partition small_problem(unsigned round, struct partition_pairs *pairs,
                                      double *degradation, uint64_t *random)
{
    size_t n = 1 + next_random(random) % SMALL_MAX, group = 1 + next_random(random) % 5;
    size_t groups = (n - 1) / group + 1;

    if (round % 3 == 0)
        groups += next_random(random) % 4;
    fill((enum kind)(round % KINDS), n, degradation, random);
    *pairs = (struct partition_pairs){.n = n, .degradation = degradation};
    return (struct partition){.n = n,
                              .group = group,
                              .groups = groups,
                              .cost = round % 5 == 0 ? crowd_cost : partition_pairs_cost,
                              .arg = pairs,
                              .pairwise = round % 5 != 0};
}

static void test_exact(void **state)
{
    uint64_t random = 88172645463325252u;

    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        double degradation[SMALL_MAX * SMALL_MAX];
        struct partition_pairs pairs;
        struct partition p = small_problem(round, &pairs, degradation, &random);
        struct partition_found found;
        size_t group_of[SMALL_MAX];

        assert_int_equal(partition_solve(&p, group_of, &found), 0);
        assert_true(alike(check_groups(&p, group_of, true), found.total));
        assert_true(alike(found.total, least(&p)));
        assert_true(found.optimal);
        assert_true(found.bound == found.total);
    }
}

/* The search never gets below the optimum, the bound never above, and mostly they meet. */
static void check_search(const struct partition *p, unsigned *found, unsigned *closed)
{
    size_t ones[SMALL_MAX], kinds[SMALL_MAX], room[SMALL_MAX], group_of[SMALL_MAX];
    struct partition whole = *p;
    double optimum = least(p), total;
    struct search *search;
    struct costs costs;
    struct bound *bound;

    for (size_t i = 0; i < SMALL_MAX; i++) {
        ones[i] = 1;
        kinds[i] = i;
        room[i] = p->group;
    }
    whole.cores = ones;
    whole.kind = kinds;
    whole.room = room;
    assert_int_equal(costs_init(&costs, &whole), 0);
    assert_int_equal(costs_of_pairs(&costs), 0);
    search = search_new(&costs);
    bound = bound_new(&costs);
    assert_non_null(search);
    assert_non_null(bound);
    for (int i = 0; i < 20; i++)
        search_again(search);
    total = search_best(search, group_of);
    assert_true(alike(check_groups(p, group_of, false), total));
    assert_true(total >= optimum - 1e-9);
    *found += alike(total, optimum);
    for (int i = 0; i < 200 && bound_raise(bound, total); i++)
        ;
    assert_true(fmin(bound_best(bound), total) <= optimum + 1e-9 || !alike(total, optimum));
    *closed += bound_best(bound) >= optimum - 1e-6;
    search_free(search);
    bound_free(bound);
    costs_clear(&costs);
}

static void test_search_and_bound(void **state)
{
    unsigned found = 0, closed[2] = {0}, tried = 0;
    uint64_t random = 362436069u;

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        double degradation[SMALL_MAX * SMALL_MAX];
        struct partition_pairs pairs;
        struct partition p = small_problem(round, &pairs, degradation, &random);

        if (p.group > p.n || p.groups > p.n)
            continue;
        tried++;
        p.bound_groups = 1000;
        check_search(&p, &found, &closed[0]);
        p.bound_groups = 1; /* too few: by neighbours */
        check_search(&p, &found, &closed[1]);
    }
    assert_true(tried > 100);
    assert_true(found > 2 * tried * 95 / 100);
    assert_true(closed[0] > tried * 80 / 100);
    assert_true(closed[1] < closed[0]);
}

/* ---- large ones ---- */

static bool stop_after(void *left)
{
    size_t *calls = left;

    return *calls == 0 || (*calls)-- == 0;
}

static void test_large(void **state)
{
    double degradation[LARGE_MAX * LARGE_MAX];
    struct partition_pairs pairs = {.n = 22, .degradation = degradation};
    struct partition p = {.n = 22,
                          .group = 4,
                          .groups = 6,
                          .cost = partition_pairs_cost,
                          .arg = &pairs,
                          .pairwise = true,
                          .bound_groups = 20000};
    size_t group_of[LARGE_MAX], again[LARGE_MAX];
    uint64_t random = 521288629u;
    struct partition_found found, second;

    (void)state;
    fill(PRODUCTS, p.n, degradation, &random);
    assert_int_equal(partition_solve(&p, group_of, &found), 0);
    assert_true(alike(check_groups(&p, group_of, true), found.total));
    assert_true(found.bound <= found.total && found.bound > 0.97 * found.total);
    /* the same again; and not worse from there */
    assert_int_equal(partition_solve(&p, again, &second), 0);
    assert_memory_equal(group_of, again, p.n * sizeof(*group_of));
    p.start = group_of;
    assert_int_equal(partition_solve(&p, again, &second), 0);
    assert_true(second.total <= found.total);
    /* a weaker bound, or none */
    p.bound_groups = 1;
    assert_int_equal(partition_solve(&p, again, &second), 0);
    assert_true(second.bound < found.bound && second.bound > 0.5 * found.total);
    p.bound_groups = 0;
    assert_int_equal(partition_solve(&p, again, &second), 0);
    assert_false(second.optimal);
    assert_true(isinf(second.bound) && second.bound < 0);
}

/* Where nobody suffers, the first partition is proven optimal at once. */
static void test_nothing_to_gain(void **state)
{
    static double degradation[LARGE_MAX * LARGE_MAX];
    struct partition_pairs pairs = {.n = 40, .degradation = degradation};
    struct partition p = {.n = 40,
                          .group = 8,
                          .groups = 5,
                          .cost = partition_pairs_cost,
                          .arg = &pairs,
                          .pairwise = true,
                          .bound_groups = 1000};
    struct partition_found found;
    size_t group_of[LARGE_MAX];

    (void)state;
    assert_int_equal(partition_solve(&p, group_of, &found), 0);
    check_groups(&p, group_of, true);
    assert_true(found.optimal);
    assert_true(found.total == 0 && found.bound == 0);
}

/* Whenever it is stopped, it has a partition. */
static void test_stop(void **state)
{
    static const size_t calls[] = {0, 1, 10, 1000, 100000};
    double degradation[LARGE_MAX * LARGE_MAX], first = 0, last = 0;
    uint64_t random = 88172645463325252u;

    (void)state;
    for (size_t n = 14; n <= 46; n += 16) { /* 14: exact if it may */
        fill(FRACTIONS, n, degradation, &random);
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
            size_t left = calls[i], group_of[LARGE_MAX];
            struct partition_pairs pairs = {.n = n, .degradation = degradation};
            struct partition p = {.n = n,
                                  .group = 4,
                                  .groups = (n + 3) / 4,
                                  .cost = partition_pairs_cost,
                                  .arg = &pairs,
                                  .pairwise = true,
                                  .stop = stop_after,
                                  .stop_arg = &left,
                                  .bound_groups = 100000};
            struct partition_found found;

            assert_int_equal(partition_solve(&p, group_of, &found), 0);
            assert_true(alike(check_groups(&p, group_of, true), found.total));
            assert_true(found.bound <= found.total);
            first = i == 0 ? found.total : first;
            last = found.total;
        }
        assert_true(last < 0.9 * first);
    }
}

static void test_pairs_of_any_cost(void **state)
{
    double degradation[SMALL_MAX * SMALL_MAX];
    uint64_t random = 521288629u;

    (void)state;
    for (size_t n = 1; n <= SMALL_MAX; n++)
        for (size_t groups = (n + 1) / 2; groups <= n + 1; groups++) {
            struct partition_pairs pairs = {.n = n, .degradation = degradation};
            struct partition p = {
                .n = n, .group = 2, .groups = groups, .cost = crowd_cost, .arg = &pairs};
            struct partition_found found;
            size_t group_of[SMALL_MAX];

            fill(FRACTIONS, n, degradation, &random);
            assert_int_equal(partition_solve(&p, group_of, &found), 0);
            assert_true(alike(check_groups(&p, group_of, true), found.total));
            assert_true(alike(found.total, least(&p)));
        }
}

static void test_refusals(void **state)
{
    double degradation[25] = {0};
    size_t group_of[5] = {7}, start[5] = {0, 0, 0, 1, 1};
    struct partition_pairs pairs = {.n = 5, .degradation = degradation};
    const struct partition sound = {
        .n = 5, .group = 3, .groups = 2, .cost = partition_pairs_cost, .arg = &pairs};
    struct partition bad[6];
    struct partition_found found = {.total = 7};

    (void)state;
    for (size_t i = 0; i < 6; i++)
        bad[i] = sound;
    bad[0].groups = 1;
    bad[1].group = 0;
    bad[2].groups = 0;
    bad[3].n = PARTITION_PROGRAMS_MAX + 1;
    bad[3].groups = SIZE_MAX;
    bad[4].start = (const size_t[]){0, 0, 0, 0, 1}; /* four in a cache of three */
    bad[5].start = (const size_t[]){0, 0, 0, 1, 2};
    for (size_t i = 0; i < 6; i++) {
        errno = 0;
        assert_int_equal(partition_solve(&bad[i], group_of, &found), -1);
        assert_int_equal(errno, EINVAL);
        assert_int_equal(group_of[0], 7);
        assert_true(found.total == 7);
    }
    bad[0] = sound;
    bad[0].start = start;
    assert_int_equal(partition_solve(&bad[0], group_of, &found), 0);
    bad[0].n = 0;
    bad[0].start = NULL;
    assert_int_equal(partition_solve(&bad[0], group_of, &found), 0);
    assert_true(found.optimal && found.total == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),    cmocka_unit_test(test_search_and_bound),
        cmocka_unit_test(test_large),    cmocka_unit_test(test_nothing_to_gain),
        cmocka_unit_test(test_stop),     cmocka_unit_test(test_pairs_of_any_cost),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
