/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_rate - the ratio estimator by hand, what it makes of nonsense, and how often its confidence
 * interval holds the truth. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/online/rate.h"
#include "tests/unit/common/noise.h"

static void assert_near(double got, double wanted, double within)
{
    if (!(fabs(got - wanted) <= within))
        fail_msg("%.15g, not %.15g", got, wanted);
}

static void test_nothing(void **state)
{
    static const struct {
        double x, y;
    } nonsense[] = {{0, 1}, {-1, 1}, {NAN, 1}, {1, NAN}, {INFINITY, 1}, {1, INFINITY}, {1, -1}};
    struct rate rate = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
        rate_add(&rate, nonsense[i].x, nonsense[i].y);
    assert_true(rate.n == 0);
    assert_true(isnan(rate_mean(&rate)));
    assert_true(isnan(rate_error(&rate)));
    rate_add(&rate, 4, 2);
    assert_near(rate_mean(&rate), 0.5, 0);
    assert_true(isnan(rate_error(&rate)));
    assert_true(isnan(rate_deviation(&rate)));
}

/* Windows (1, 10), (2, 26), (1, 12): 48 per 4 is 12; distances -2, 2, 0; their squares 8 by 2 is a
 * deviation of 2 of y, 1.5 of the rate where x is 4/3; 4.3027 * 1.5 / sqrt(3) either side. */
static void test_by_hand(void **state)
{
    struct rate rate = {0};

    (void)state;
    rate_add(&rate, 1, 10);
    rate_add(&rate, 2, 26);
    rate_add(&rate, 1, 12);
    assert_near(rate_mean(&rate), 12, 1e-12);
    assert_near(rate_deviation(&rate), 1.5, 1e-12);
    assert_near(rate_error(&rate), 4.3027 * 1.5 / sqrt(3), 1e-9);
}

static void test_constant(void **state)
{
    struct rate rate = {0};

    (void)state;
    for (int i = 1; i <= 50; i++)
        rate_add(&rate, i * 1e9, i * 3e9);
    assert_near(rate_mean(&rate), 3, 1e-12);
    assert_near(rate_error(&rate), 0, 1e-6);
}

static void test_student(void **state)
{
    (void)state;
    assert_near(rate_student(1), 12.7062, 1e-9);
    assert_near(rate_student(10), 2.2281, 1e-9);
    assert_near(rate_student(11), 2.2010, 2e-4);
    assert_near(rate_student(20), 2.0860, 1e-4);
    assert_near(rate_student(60), 2.0003, 1e-4);
    assert_near(rate_student(1e9), 1.959964, 1e-6);
    for (double f = 1; f < 40; f += 0.25)
        assert_true(rate_student(f + 0.25) <= rate_student(f));
}

/* A drift from 1 to 2: what is forgotten follows it, what is not stays between. */
static void test_forget(void **state)
{
    struct rate all = {0}, late = {0};

    (void)state;
    for (int i = 0; i < 200; i++) {
        rate_add(&all, 1, i < 100 ? 1 : 2);
        rate_add(&late, 1, i < 100 ? 1 : 2);
        rate_forget(&late, 10);
    }
    assert_near(rate_mean(&all), 1.5, 1e-12);
    assert_near(rate_mean(&late), 2, 1e-3);
    assert_near(late.n, 10, 1e-9);
    assert_true(isfinite(rate_error(&late)));
    rate_forget(&late, 20); /* it weighs less already */
    assert_near(late.n, 10, 1e-9);
}

/* Windows of 0.5 to 1.5 with 20 % noise: the interval holds the truth 95 times of 100. */
static void test_coverage(void **state)
{
    static const int windows[] = {5, 20, 100};
    struct noise noise = {42};

    (void)state;
    for (size_t w = 0; w < 3; w++) {
        int held = 0;

        for (int run = 0; run < 4000; run++) {
            struct rate rate = {0};

            for (int i = 0; i < windows[w]; i++) {
                double x = 0.5 + noise_uniform(&noise);

                rate_add(&rate, x, x * 700 * fmax(0, 1 + 0.2 * noise_normal(&noise)));
            }
            held += fabs(rate_mean(&rate) - 700) <= rate_error(&rate);
        }
        if (held < 4000 * 0.93 || held > 4000 * 0.97)
            fail_msg("%d windows: %d of 4000 intervals held the truth", windows[w], held);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),  cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_constant), cmocka_unit_test(test_student),
        cmocka_unit_test(test_forget),   cmocka_unit_test(test_coverage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
