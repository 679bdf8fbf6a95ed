/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_pain - sensitivity, intensity and Pain against equations 1 to 3 worked by hand. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/slowdown/pain.h"

struct row {
    size_t ways;
    double hits[4], misses;
    double sensitivity, intensity;
};

static const struct row rows[] = {
    /* 1/5 * (1*100 + 2*50 + 3*20 + 4*10) = 60 */
    {4, {100, 50, 20, 10}, 40, 60, 220},
    /* hits next to the LRU end weigh most: 1/5 * 4*100 */
    {4, {0, 0, 0, 100}, 0, 80, 100},
    {4, {100, 0, 0, 0}, 0, 20, 100},
    /* one way: half of the hits */
    {1, {100}, 7, 50, 107},
    /* a stream is insensitive, and intensive */
    {4, {0, 0, 0, 0}, 30000, 0, 30000},
    {4, {0, 0, 0, 0}, 0, 0, 0},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static struct pain pain_of_row(size_t i)
{
    const struct app_sdp sdp = {rows[i].ways, rows[i].hits, rows[i].misses};

    return pain_of(&sdp);
}

static void test_of(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct pain pain = pain_of_row(i);

        assert_true(fabs(pain.sensitivity - rows[i].sensitivity) <= 1e-9);
        assert_true(fabs(pain.intensity - rows[i].intensity) <= 1e-9);
    }
}

/* Of every two, in both orders and each with itself. */
static void test_pair(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            struct pain a = pain_of_row(i), b = pain_of_row(j);
            struct app_pair pair = pain_pair(&a, &b);

            assert_true(fabs(pair.a_given_b - (rows[i].sensitivity * rows[j].intensity)) <= 1e-6);
            assert_true(fabs(pair.b_given_a - (rows[j].sensitivity * rows[i].intensity)) <= 1e-6);
            assert_true(fabs(pair.score - (pair.a_given_b + pair.b_given_a)) <= 1e-6);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of),
        cmocka_unit_test(test_pair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
