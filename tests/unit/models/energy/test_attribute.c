/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_attribute - parts that add up exactly: by hand, with weights that are none, and at random
 * against a largest remainder worked out the long way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "models/energy/attribute.h"
#include "tests/unit/common/noise.h"

#define MOST 6

static void test_by_hand(void **state)
{
    static const struct {
        uint64_t total;
        size_t n;
        double weight[MOST];
        uint64_t share[MOST], left;
    } cases[] = {
        {100, 2, {1, 3}, {25, 75}, 0},
        {10, 3, {1, 1, 1}, {4, 3, 3}, 0},              /* ties: the first */
        {11, 3, {1, 1, 1}, {4, 4, 3}, 0},              /* and the second */
        {10, 3, {1, 2, 4}, {1, 3, 6}, 0},              /* 1.43 2.86 5.71: both to the large ones */
        {7, 4, {0, 5, 0, 5}, {0, 4, 0, 3}, 0},         /* no weight, no unit */
        {5, 1, {1e-300}, {5}, 0},                      /* one claimant */
        {0, 2, {1, 1}, {0, 0}, 0},                     /* nothing to divide */
        {9, 0, {0}, {0}, 9},                           /* nobody */
        {9, 2, {0, 0}, {0, 0}, 9},                     /* nobody has a weight */
        {9, 3, {-1, NAN, 1}, {0, 0, 9}, 0},            /* these are none either */
        {9, 2, {NAN, -INFINITY}, {0, 0}, 9},           /* */
        {9, 3, {INFINITY, 1, INFINITY}, {5, 0, 4}, 0}, /* the infinite ones share alike */
        {9, 2, {1e308, 1e308}, {5, 4}, 0},             /* whose sum is infinite */
        {9, 2, {5e-324, 5e-324}, {5, 4}, 0},           /* the least number there is */
        {9, 2, {1e300, 1e-300}, {9, 0}, 0},
        {UINT64_MAX, 1, {3}, {UINT64_MAX}, 0},
        {UINT64_MAX, 2, {1, 1}, {UINT64_MAX / 2 + 1, UINT64_MAX / 2}, 0},
        {2, 6, {1, 1, 1, 1, 1, 1}, {1, 1, 0, 0, 0, 0}, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct attribute_claim claim[MOST];

        for (size_t k = 0; k < MOST; k++)
            claim[k] = (struct attribute_claim){.weight = cases[i].weight[k], .share = 77};
        if (attribute_divide(cases[i].total, claim, cases[i].n) != cases[i].left)
            fail_msg("case %zu: something else is left", i);
        for (size_t k = 0; k < cases[i].n; k++)
            if (claim[k].share != cases[i].share[k])
                fail_msg("case %zu: share %zu is %llu", i, k, (unsigned long long)claim[k].share);
    }
}

static void test_too_many(void **state)
{
    static struct attribute_claim claim[ATTRIBUTE_CLAIMS + 1];
    uint64_t sum = 0;

    (void)state;
    for (size_t i = 0; i <= ATTRIBUTE_CLAIMS; i++)
        claim[i].weight = 1;
    assert_int_equal(attribute_divide(5, claim, ATTRIBUTE_CLAIMS + 1), 5);
    assert_int_equal(attribute_divide(UINT64_MAX, claim, ATTRIBUTE_CLAIMS), 0);
    for (size_t i = 0; i < ATTRIBUTE_CLAIMS; i++)
        sum += claim[i].share;
    assert_true(sum == UINT64_MAX);
    assert_true(claim[0].share - claim[ATTRIBUTE_CLAIMS - 1].share == 1);
}

/* Weights that are small whole numbers: quotas can be had exactly, and one unit after the other
 * goes to the largest remainder. */
static void test_against_the_long_way(void **state)
{
    struct noise noise = {7};

    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t n = 1 + (size_t)(noise_uniform(&noise) * MOST);
        uint64_t total = (uint64_t)(noise_uniform(&noise) * 1000), sum = 0, left = total;
        uint64_t weight[MOST], share[MOST], rest[MOST];
        struct attribute_claim claim[MOST];

        for (size_t i = 0; i < n; i++) {
            weight[i] = 1u << (unsigned)(noise_uniform(&noise) * 5); /* 53 bits hold these whole */
            claim[i].weight = (double)weight[i];
            sum += weight[i];
        }
        for (size_t i = 0; i < n; i++) {
            share[i] = total * weight[i] / sum;
            rest[i] = total * weight[i] % sum;
            left -= share[i];
        }
        for (; left > 0; left--) {
            size_t best = 0;

            for (size_t i = 1; i < n; i++)
                if (rest[i] > rest[best])
                    best = i;
            share[best]++;
            rest[best] = 0;
        }
        assert_int_equal(attribute_divide(total, claim, n), 0);
        for (size_t i = 0; i < n; i++)
            assert_true(claim[i].share == share[i]);
    }
}

/* Any weights: nothing is lost, and each share is within a unit of its quota. */
static void test_exact_at_random(void **state)
{
    static struct attribute_claim claim[300];
    struct noise noise = {11};

    (void)state;
    for (int round = 0; round < 3000; round++) {
        size_t n = 1 + (size_t)(noise_uniform(&noise) * 300);
        uint64_t total = (uint64_t)ldexp(noise_uniform(&noise), (int)(noise_uniform(&noise) * 60));
        double all = 0;
        uint64_t sum = 0;

        for (size_t i = 0; i < n; i++) {
            claim[i].weight = exp(20 * noise_normal(&noise));
            if (noise_uniform(&noise) < 0.1)
                claim[i].weight = 0;
            all += claim[i].weight;
        }
        if (attribute_divide(total, claim, n) != 0) {
            assert_true(all == 0);
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            double quota = (double)total * (claim[i].weight / all);

            sum += claim[i].share;
            assert_true(fabs((double)claim[i].share - quota) <= 1 + 1e-12 * (double)total);
            assert_true(claim[i].weight > 0 || claim[i].share == 0);
        }
        assert_true(sum == total);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_against_the_long_way),
        cmocka_unit_test(test_exact_at_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
