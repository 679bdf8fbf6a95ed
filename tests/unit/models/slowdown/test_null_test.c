/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_null_test - do neighbours matter: nothing seen, all as predicted, nothing comes of it,
 * halves of it; exceptions, changes of the machine, and figures that make no sense. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/slowdown/null_test.h"

/* Noise of that standard deviation, the same at each run: the sum of twelve. */
static double noise(unsigned *seed, double deviation)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += rand_r(seed) / (double)RAND_MAX;
    return deviation * sum;
}

/* Changes of 5 to 30 % up and down, of which such a part comes true, seen with that error. */
static void see(struct null_test *test, size_t n, double part, double error)
{
    unsigned seed = 7;

    for (size_t i = 0; i < n; i++) {
        double predicted = (i % 2 ? 1 : -1) * (0.05 + 0.05 * (double)(i % 6));

        null_test_add(test, predicted, part * predicted + noise(&seed, error), error);
    }
}

/* Before anything is seen neighbours matter, and a few changes do not settle it. */
static void test_nothing_seen(void **state)
{
    struct null_test test = {0};

    (void)state;
    assert_true(null_test_factor(&test) > 0.95);
    see(&test, 2, 0, 0.2);
    assert_true(null_test_factor(&test) > 0.9);
}

static void test_comes_true(void **state)
{
    static const double part[] = {1, 0.7, 1.5};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct null_test test = {0};

        see(&test, 100, part[i], 0.1);
        assert_true(null_test_factor(&test) > 0.99);
    }
}

/* Nobody disturbs anybody: that shows after some changes, after more where counters are rough. */
static void test_nothing_comes_true(void **state)
{
    struct null_test test = {0};

    (void)state;
    see(&test, 20, 0, 0.05);
    assert_true(null_test_factor(&test) < 0.01);
    test = (struct null_test){0};
    see(&test, 200, 0, 0.2);
    assert_true(null_test_factor(&test) < 0.01);
}

/* Changes of which nothing is predicted say nothing, whatever happens. */
static void test_nothing_predicted(void **state)
{
    struct null_test test = {0};
    double before = null_test_factor(&test);

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        null_test_add(&test, 0, i % 2 ? 0.5 : -0.5, 0.05);
    assert_true(fabs(null_test_factor(&test) - before) < 1e-9);
}

/* A phase that begins just then is one change of many. */
static void test_exception(void **state)
{
    struct null_test test = {0};

    (void)state;
    null_test_add(&test, -0.3, 5, 0.01);
    assert_true(null_test_factor(&test) > 0.8);
    see(&test, 50, 0, 0.05);
    null_test_add(&test, 0.3, 5, 0.01);
    assert_true(null_test_factor(&test) < 0.05);
}

/* What runs on the machine is another thing now: that is believed after as much as was seen. */
static void test_changes(void **state)
{
    struct null_test test = {0};

    (void)state;
    see(&test, 5000, 1, 0.05);
    see(&test, 100, 0, 0.05);
    assert_true(null_test_factor(&test) < 0.01);
    see(&test, 5000, 0, 0.05);
    see(&test, 100, 1, 0.05);
    assert_true(null_test_factor(&test) > 0.99);
}

/* Decisions doubt it from the start, not at all once it was seen, and beyond all gains where
 * nothing comes of it. */
static void test_against(void **state)
{
    struct null_test test = {0};
    double at_first = null_test_against(&test);

    (void)state;
    assert_true(at_first > 0.2 && at_first < 0.5);
    see(&test, 50, 1, 0.05);
    assert_true(null_test_against(&test) < 0.02);
    see(&test, 100, 0, 0.05);
    assert_true(null_test_against(&test) > 100);
}

static void test_no_figures(void **state)
{
    struct null_test test = {0};

    (void)state;
    null_test_add(&test, NAN, 0, 1);
    null_test_add(&test, 0, NAN, 1);
    null_test_add(&test, 1, 0, NAN);
    null_test_add(&test, 1, 0, 0);
    null_test_add(&test, 1, 0, -1);
    null_test_add(&test, INFINITY, 0, 1);
    assert_true(test.as_predicted == 0 && test.otherwise == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_seen),
        cmocka_unit_test(test_comes_true),
        cmocka_unit_test(test_nothing_comes_true),
        cmocka_unit_test(test_nothing_predicted),
        cmocka_unit_test(test_exception),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_against),
        cmocka_unit_test(test_no_figures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
