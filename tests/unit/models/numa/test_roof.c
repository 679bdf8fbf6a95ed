/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_roof - the soft roof by hand, its inverse, and how many cores are enough below it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/numa/roof.h"

#define CORES 18

static void assert_near(double is, double expected)
{
    assert_true(fabs(is - expected) <= 1e-9 * fmax(1, fabs(expected)));
}

/* Four channels: p is 2, and what asks for as much as there is has it by 1 / sqrt(2). */
static void test_by_hand(void **state)
{
    const struct roof roof = roof_of(4 * ROOF_CHANNEL_GBPS);

    (void)state;
    assert_near(roof.sharp, 2);
    assert_near(roof_give(&roof, roof.gbps), roof.gbps / sqrt(2));
    assert_near(roof_give(&roof, 0.75 * roof.gbps), 0.6 * roof.gbps); /* 3-4-5 */
    assert_near(roof_stretch(0.75, 2), 1.25);
    assert_near(roof_stretch_at(0.6, 2), 1.25);
    assert_near(roof_give(&roof, 0), 0);
    assert_true(roof_give(&roof, 1e6) <= roof.gbps);
    assert_near(roof_of(1).sharp, 1);   /* one channel at least, */
    assert_near(roof_of(1e9).sharp, 8); /* 64 at most */
}

static void test_load_and_stretch(void **state)
{
    double rise, after, ignored;

    (void)state;
    for (double load = 0.05; load < 1; load += 0.05) {
        double stretch = roof_stretch_at(load, 2.5);

        assert_near(roof_load(stretch, 2.5, &rise), load);
        after = roof_load(stretch * (1 + 1e-7), 2.5, &ignored);
        assert_true(fabs((after - load) / (stretch * 1e-7) - rise) < 1e-3 * rise);
    }
}

/* One core draws what it was seen to draw, and no number of them more than there is. */
static void test_curve(void **state)
{
    const struct roof roof = roof_of(77);
    double gbps[CORES + 1];

    (void)state;
    roof_curve(&roof, 17.9, CORES, gbps);
    assert_near(gbps[0], 0);
    assert_near(gbps[1], 17.9);
    for (size_t c = 1; c <= CORES; c++)
        assert_true(gbps[c] > gbps[c - 1] && gbps[c] < roof.gbps && gbps[c] <= (double)c * 18.5);
}

/* A core that has nearly all by itself is not taken for one that asks for infinitely much. */
static void test_one_core_has_it_all(void **state)
{
    const struct roof roof = roof_of(19.2);

    (void)state;
    assert_true(isfinite(roof_idle(&roof, 19.2)) && isfinite(roof_idle(&roof, 40)));
    assert_near(roof_idle(&roof, 0), 0);
}

/* A program below 2 % of loss needs more than the hard minimum's 5 cores, and fewer than all; the
 * more it may lose the fewer; and never more than it said. */
static void test_enough(void **state)
{
    const struct roof roof = roof_of(77);
    double gbps[CORES + 1];
    size_t before = CORES;

    (void)state;
    roof_curve(&roof, 17.9, CORES, gbps);
    assert_int_equal(roof_enough(gbps, CORES, 0), CORES);
    for (double loss = 0.01; loss < 0.5; loss += 0.01) {
        size_t enough = roof_enough(gbps, CORES, loss);

        assert_true(enough <= before && gbps[enough] >= (1 - loss) * gbps[CORES]);
        assert_true(gbps[enough - 1] < (1 - loss) * gbps[CORES]);
        before = enough;
    }
    assert_true(roof_enough(gbps, CORES, 0.02) > 5 && roof_enough(gbps, CORES, 0.02) < CORES);
}

/* What speeds up with each core loses with each: 63 of 64 cores would be within 2 %, for nothing.
 */
static void test_no_core_for_its_own_work(void **state)
{
    double linear[65], flat[CORES + 1] = {0, 5, 10, 10}, none[CORES + 1] = {0};
    double falls[5] = {0, 6, 11, 12, 9};

    (void)state;
    for (size_t c = 0; c <= 64; c++)
        linear[c] = 0.5 * (double)c;
    assert_int_equal(roof_enough(linear, 64, 0.02), 64);
    assert_int_equal(roof_enough(linear, 64, 0.5), 64);
    assert_int_equal(roof_enough(flat, 3, 0), 2);
    assert_int_equal(roof_enough(none, CORES, 0.02), 0);
    assert_int_equal(roof_enough(falls, 4, 0.02), 3); /* the best, not the last */
    assert_int_equal(roof_enough(falls, 4, 0.1), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_load_and_stretch),
        cmocka_unit_test(test_curve),   cmocka_unit_test(test_one_core_has_it_all),
        cmocka_unit_test(test_enough),  cmocka_unit_test(test_no_core_for_its_own_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
