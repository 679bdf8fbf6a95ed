/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_parts - the parts of a slowdown come out as they were put in: made times of which the truth
 * is known, with noise too, on machines that have all places, and on those that lack some. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/slowdown/parts.h"

#define DRAWS 2000

/* What each thing that is shared costs, of the time alone without prefetchers, and the program's
 * times alone. */
struct truth {
    double cache, bus, controller, prefetchers, on_s, off_s;
};

static const struct truth truth = {0.10, 0.15, 0.20, 0.12, 8, 10};

static double normal(void)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += drand48();
    return sum - 6;
}

static struct parts_time time_of(double seconds, double noise)
{
    return (struct parts_time){seconds * (1 + noise * normal()), seconds * noise};
}

static void fill(struct parts_time *time, double alone_s, double more, double noise)
{
    const struct truth *t = &truth;

    time[PARTS_ALONE] = time_of(alone_s, noise);
    time[PARTS_PACKAGE] = time_of(alone_s * (1 + t->controller), noise);
    time[PARTS_CACHE] = time_of(alone_s * (1 + t->controller + t->bus), noise);
    time[PARTS_SAME] = time_of(alone_s * (1 + t->controller + t->bus + t->cache + more), noise);
    time[PARTS_FAR] = time_of(alone_s * (1 + t->bus + t->cache), noise);
}

static struct parts_times made(double noise)
{
    struct parts_times times;

    fill(times.on, truth.on_s, truth.prefetchers, noise);
    fill(times.off, truth.off_s, 0, noise);
    return times;
}

static void lacks(struct parts_times *times, enum parts_where where)
{
    times->on[where].seconds = times->off[where].seconds = NAN;
}

static void is(const struct parts *parts, size_t i, unsigned of, double slowdown)
{
    assert_true(i < parts->n);
    assert_int_equal(parts->part[i].of, of);
    assert_true(fabs(parts->part[i].slowdown - slowdown) < 1e-9);
}

static double sum_of(const struct parts *parts)
{
    double sum = 0;

    for (size_t i = 0; i < parts->n; i++)
        sum += parts->part[i].slowdown;
    return sum;
}

static struct parts divided(const struct parts_times *times)
{
    struct parts parts;

    assert_true(parts_divide(times, &parts));
    assert_true(fabs(sum_of(&parts) - parts.total.slowdown) < 1e-9);
    return parts;
}

static void test_all_places(void **state)
{
    struct parts_times times = made(0);
    struct parts parts = divided(&times);

    (void)state;
    assert_int_equal(parts.n, 4);
    is(&parts, 0, PARTS_OF_CACHE, truth.cache);
    is(&parts, 1, PARTS_OF_BUS, truth.bus);
    is(&parts, 2, PARTS_OF_CONTROLLER, truth.controller);
    is(&parts, 3, PARTS_OF_PREFETCHERS, truth.prefetchers);
    assert_true(parts.prefetchers);
}

/* Equations 4 to 8 by hand. */
static void test_by_hand(void **state)
{
    struct parts_times times = made(0);
    struct parts parts;

    (void)state;
    times.off[PARTS_ALONE].seconds = 100;
    times.off[PARTS_PACKAGE].seconds = 110;
    times.off[PARTS_CACHE].seconds = 125;
    times.off[PARTS_SAME].seconds = 130;
    times.on[PARTS_ALONE].seconds = 80;
    times.on[PARTS_SAME].seconds = 120;
    parts = divided(&times);
    is(&parts, 0, PARTS_OF_CACHE, 0.05);
    is(&parts, 1, PARTS_OF_BUS, 0.15);
    is(&parts, 2, PARTS_OF_CONTROLLER, 0.10);
    is(&parts, 3, PARTS_OF_PREFETCHERS, 0.20);
}

static void test_no_switch(void **state)
{
    struct parts_times times = made(0);
    struct parts parts;

    (void)state;
    for (enum parts_where where = 0; where < PARTS_PLACES; where++)
        times.off[where].seconds = NAN;
    parts = divided(&times);
    assert_false(parts.prefetchers);
    assert_int_equal(parts.n, 3);
    is(&parts, 0, PARTS_OF_CACHE, truth.cache + truth.prefetchers); /* they are in it */
    is(&parts, 1, PARTS_OF_BUS, truth.bus);
    is(&parts, 2, PARTS_OF_CONTROLLER, truth.controller);
}

/* One cache a package, as most servers are: what is cut off by the other package is together. */
static void test_one_cache_a_package(void **state)
{
    struct parts_times times = made(0);
    struct parts parts;

    (void)state;
    lacks(&times, PARTS_CACHE);
    parts = divided(&times);
    is(&parts, 0, PARTS_OF_CACHE | PARTS_OF_BUS, truth.cache + truth.bus);
    is(&parts, 1, PARTS_OF_CONTROLLER, truth.controller);
    is(&parts, 2, PARTS_OF_PREFETCHERS, truth.prefetchers);
}

static void test_one_package(void **state)
{
    struct parts_times times = made(0);
    struct parts parts;

    (void)state;
    lacks(&times, PARTS_PACKAGE);
    parts = divided(&times);
    is(&parts, 0, PARTS_OF_CACHE, truth.cache);
    is(&parts, 1, PARTS_OF_BUS | PARTS_OF_CONTROLLER, truth.bus + truth.controller);
}

/* One cache, but memory elsewhere. */
static void test_far_memory(void **state)
{
    struct parts_times times = made(0);
    struct parts parts;

    (void)state;
    lacks(&times, PARTS_PACKAGE);
    lacks(&times, PARTS_CACHE);
    parts = divided(&times);
    is(&parts, 0, PARTS_OF_CACHE | PARTS_OF_BUS, truth.cache + truth.bus);
    is(&parts, 1, PARTS_OF_CONTROLLER, truth.controller);
    lacks(&times, PARTS_FAR);
    parts = divided(&times);
    is(&parts, 0, PARTS_OF_CACHE | PARTS_OF_BUS | PARTS_OF_CONTROLLER,
       truth.cache + truth.bus + truth.controller);
}

static void test_not_enough(void **state)
{
    struct parts_times times = made(0);
    struct parts parts;

    (void)state;
    times.on[PARTS_SAME].seconds = NAN;
    assert_false(parts_divide(&times, &parts));
}

/* The errors are those that the parts have: of many draws the spread is what is said. */
static void test_noise(void **state)
{
    double sum[4] = {0}, squares[4] = {0}, said[4] = {0};
    const double is_so[4] = {truth.cache, truth.bus, truth.controller, truth.prefetchers};

    (void)state;
    srand48(7);
    for (int draw = 0; draw < DRAWS; draw++) {
        struct parts_times times = made(0.01);
        struct parts parts = divided(&times);

        for (size_t i = 0; i < 4; i++) {
            sum[i] += parts.part[i].slowdown;
            squares[i] += pow(parts.part[i].slowdown - is_so[i], 2);
            said[i] += parts.part[i].error;
        }
    }
    for (size_t i = 0; i < 4; i++) {
        double spread = sqrt(squares[i] / DRAWS);

        assert_true(fabs(sum[i] / DRAWS - is_so[i]) < 0.002);
        assert_true(fabs(said[i] / DRAWS / spread - 1) < 0.08);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_places),  cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_no_switch),   cmocka_unit_test(test_one_cache_a_package),
        cmocka_unit_test(test_one_package), cmocka_unit_test(test_far_memory),
        cmocka_unit_test(test_not_enough),  cmocka_unit_test(test_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
