/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_sdc - merged by hand, and against an oracle for falling profiles: there the positions won
 * are the greatest counters of both. */
#include <stdlib.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/slowdown/sdc.h"

#define WAYS_MAX 64

struct row {
    size_t ways_a;
    double a[4];
    size_t ways_b;
    double b[4];
    size_t ways;
    double a_given_b, b_given_a;
};

static const struct row rows[] = {
    /* a10 b9 a8 b3: a keeps 2 ways, so does b */
    {4, {10, 8, 2, 1}, 4, {9, 3, 1, 0}, 4, 3, 1},
    /* a100 a50 a20 a10: b has no way left */
    {4, {100, 50, 20, 10}, 4, {9, 3, 1, 0}, 4, 0, 13},
    /* the pointer stands where the counter is small, however much comes behind it: b4 b3 b2 b1 */
    {4, {0, 90, 90, 90}, 4, {4, 3, 2, 1}, 4, 270, 0},
    /* equal counters go to who has fewer ways: a5 b5 a5 b5 */
    {4, {5, 5, 5, 5}, 4, {5, 5, 5, 5}, 4, 10, 10},
    /* and then to a: a5 b5 a3 */
    {3, {5, 3, 1}, 3, {5, 3, 1}, 3, 1, 4},
    /* a profile of two ways on a cache of four: a10 b9 a8 b3 */
    {2, {10, 8}, 4, {9, 3, 1, 1}, 4, 0, 2},
    {4, {9, 3, 1, 1}, 2, {10, 8}, 4, 2, 0},
    /* profiles of a larger cache: what two ways do not hold alone is not lost to b. a10 b9 */
    {4, {10, 8, 7, 7}, 4, {9, 3, 1, 1}, 2, 8, 3},
    /* room for both */
    {2, {10, 8}, 2, {9, 3}, 4, 0, 0},
    /* one way */
    {1, {10}, 1, {9}, 1, 0, 9},
    /* no access at all */
    {2, {0, 0}, 2, {9, 3}, 2, 0, 0},
    {2, {0, 0}, 2, {0, 0}, 2, 0, 0},
};

static void test_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        /* misses have no say */
        const struct app_sdp a = {rows[i].ways_a, rows[i].a, 1e6};
        const struct app_sdp b = {rows[i].ways_b, rows[i].b, 0};
        struct app_pair pair = sdc_pair(&a, &b, rows[i].ways);

        assert_true(pair.a_given_b == rows[i].a_given_b);
        assert_true(pair.b_given_a == rows[i].b_given_a);
        assert_true(pair.score == rows[i].a_given_b + rows[i].b_given_a);
    }
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* Distinct counters: an even number for a, an odd one for b. */
static void make(double *hits, size_t ways, int odd, unsigned *seed)
{
    for (size_t i = 0; i < ways; i++)
        hits[i] = 2.0 * rand_r(seed) + odd;
    qsort(hits, ways, sizeof(*hits), descending);
}

static double sum_below(const double *hits, size_t ways, double least)
{
    double sum = 0;

    for (size_t i = 0; i < ways; i++)
        sum += hits[i] < least ? hits[i] : 0;
    return sum;
}

static void test_falling_profiles(void **state)
{
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        size_t ways = 1 + (size_t)rand_r(&seed) % WAYS_MAX;
        double both[2 * WAYS_MAX], *a = both, *b = both + ways, hits_a[WAYS_MAX], hits_b[WAYS_MAX];
        struct app_pair pair;

        make(a, ways, 0, &seed);
        make(b, ways, 1, &seed);
        for (size_t i = 0; i < ways; i++) {
            hits_a[i] = a[i];
            hits_b[i] = b[i];
        }
        qsort(both, 2 * ways, sizeof(*both), descending);
        pair =
            sdc_pair(&(struct app_sdp){ways, hits_a, 0}, &(struct app_sdp){ways, hits_b, 0}, ways);
        assert_true(pair.a_given_b == sum_below(hits_a, ways, both[ways - 1]));
        assert_true(pair.b_given_a == sum_below(hits_b, ways, both[ways - 1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_falling_profiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
