/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_power - power and energy-delay products worked by hand; the fit finds the figures that made
 * the intervals, and says when it cannot know them. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/energy/power.h"

static void assert_near(double got, double want, double off)
{
    if (!(fabs(got - want) <= off))
        fail_msg("%.9g, not %.9g", got, want);
}

static void test_watts(void **state)
{
    static const struct power_package package = {10, 40, 5};

    (void)state;
    assert_near(power_watts(&package, 0, false), 10, 0);
    assert_near(power_watts(&package, 0, true), 40, 0);
    assert_near(power_watts(&package, 3, false), 55, 0);
    assert_near(power_watts(&package, 3, true), 55, 0);
}

/* Two cores of 5 W on packages of 40 W awake and 10 W asleep. Spread: 2 * 45 = 90 W, and a second's
 * work takes a second. Clustered: 50 + 10 = 60 W; with 1.6 cores' worth of work per second it takes
 * 1.25 s, and 60 * 1.5625 = 93.75 J s; with 1.8, 74.07. */
static void test_edp(void **state)
{
    (void)state;
    assert_near(power_edp(90, 2, 2), 90, 1e-12);
    assert_near(power_edp(60, 2, 1.6), 93.75, 1e-9);
    assert_near(power_edp(60, 2, 1.8), 74.074074, 1e-6);
}

static double noise(unsigned *seed, double most)
{
    return most * (2.0 * rand_r(seed) / RAND_MAX - 1);
}

static void feed(struct power_fit *fit, const struct power_package *truth, unsigned *seed, int n)
{
    for (int i = 0; i < n; i++) {
        double cores = rand_r(seed) % 9;

        power_fit_add(fit, 1, power_watts(truth, cores, false) + noise(seed, 0.5), cores);
    }
}

static void test_fit(void **state)
{
    static const struct power_package truth[] = {{10, 40, 5}, {20, 20, 3}, {0, 0, 7}, {12, 50, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(truth) / sizeof(truth[0]); i++) {
        struct power_fit fit = {0};
        struct power_package got;
        unsigned seed = 5;

        feed(&fit, &truth[i], &seed, 2000);
        assert_true(power_fit_known(&fit, &got));
        assert_near(got.asleep_w, truth[i].asleep_w, 0.5);
        assert_near(got.awake_w, truth[i].awake_w, 0.5);
        assert_near(got.core_w, truth[i].core_w, 0.1);
        assert_true(got.awake_w >= got.asleep_w && got.core_w >= 0);
    }
}

/* The machine is another one after its BIOS was changed: the old figures fade. */
static void test_fades(void **state)
{
    static const struct power_package old = {10, 40, 5}, new = {20, 60, 2};
    struct power_fit fit = {0};
    struct power_package got;
    unsigned seed = 6;

    (void)state;
    feed(&fit, &old, &seed, 2000);
    feed(&fit, &new, &seed, 7000);
    assert_true(power_fit_known(&fit, &got));
    assert_near(got.asleep_w, new.asleep_w, 1);
    assert_near(got.awake_w, new.awake_w, 1);
    assert_near(got.core_w, new.core_w, 0.2);
}

/* More power with fewer cores, or none at all left for the package: no weight is negative. */
static void test_not_negative(void **state)
{
    struct power_fit fit = {0}, steep = {0};
    struct power_package got;

    (void)state;
    for (int i = 0; i < 40; i++) {
        power_fit_add(&fit, 1, 10, 0);
        power_fit_add(&fit, 1, 50 - i % 4, 1 + i % 4);
        power_fit_add(&steep, 1, 1, 0);
        power_fit_add(&steep, 1, 10 * (1 + i % 4) - 5, 1 + i % 4);
    }
    assert_true(power_fit_known(&fit, &got));
    assert_near(got.core_w, 0, 0);
    assert_near(got.awake_w, 48.5, 0.1);
    assert_true(power_fit_known(&steep, &got));
    assert_near(got.core_w, 25.0 / 3, 0.05); /* sum xy / sum xx = 250 / 30 */
    assert_near(got.awake_w, 1, 1e-9);       /* not below what it draws asleep */
}

/* What cannot be told is not known: never asleep, never awake, always as many cores; nor does
 * anything that is no interval count. */
static void test_unknown(void **state)
{
    static const struct {
        double asleep, first, second;
    } cases[] = {{NAN, 1, 8}, {0, NAN, NAN}, {0, 4, 4}, {0, 4, NAN}};
    struct power_package got;
    struct power_fit fit = {0};

    (void)state;
    assert_false(power_fit_known(&fit, &got));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fit = (struct power_fit){0};
        for (int j = 0; j < 100; j++) {
            power_fit_add(&fit, 1, 10, cases[i].asleep);
            power_fit_add(&fit, 1, 40, cases[i].first);
            power_fit_add(&fit, 1, 40, cases[i].second);
        }
        assert_false(power_fit_known(&fit, &got));
    }
    fit = (struct power_fit){0};
    for (int j = 0; j < 100; j++) {
        power_fit_add(&fit, 0, 10, 0);
        power_fit_add(&fit, 1, -1, 0);
        power_fit_add(&fit, 1, 10, -1);
        power_fit_add(&fit, NAN, 10, 1);
        power_fit_add(&fit, 1, INFINITY, 4);
    }
    assert_true(fit.n == 0 && fit.asleep == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watts),        cmocka_unit_test(test_edp),
        cmocka_unit_test(test_fit),          cmocka_unit_test(test_fades),
        cmocka_unit_test(test_not_negative), cmocka_unit_test(test_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
