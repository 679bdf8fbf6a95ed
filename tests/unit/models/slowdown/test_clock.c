/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_clock - the clock between the points that were measured, and what a program loses by it. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/slowdown/clock.h"

static void lines_join_the_points(void **state)
{
    static const struct {
        struct clock_curve curve;
        double busy, ghz;
    } row[] = {
        {{4, 3.6, 3, 8}, 0, 4},    {{4, 3.6, 3, 8}, 1, 4},
        {{4, 3.6, 3, 8}, 4, 3.6},  {{4, 3.6, 3, 8}, 2, 3.9 - 0.1 / 3},
        {{4, 3.6, 3, 8}, 6, 3.3},  {{4, 3.6, 3, 8}, 99, 3},
        {{4, NAN, 3, 5}, 3, 3.5},  {{4, 0, 3, 5}, 5, 3},
        {{4, 4, 4, 1}, 1, 4},      {{4, 3.5, 3, 2}, 2, 3},
        {{4, 3.5, 3, 3}, 2, 3.25},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        assert_true(fabs(clock_at(&row[i].curve, row[i].busy) - row[i].ghz) < 1e-9);
}

static void unknown_is_not_a_number_and_costs_nothing(void **state)
{
    static const struct clock_curve curve[] = {{0}, {4, 4, NAN, 8}, {NAN, 4, 4, 8}, {4, 4, 4, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(curve) / sizeof(curve[0]); i++) {
        assert_false(clock_is_known(&curve[i]));
        assert_true(isnan(clock_at(&curve[i], 1)));
        assert_true(clock_slowdown(&curve[i], 1, 1, 8) == 0);
    }
}

static void only_what_works_goes_with_the_clock(void **state)
{
    static const struct clock_curve curve = {4, 3.5, 3, 8};

    (void)state;
    assert_true(fabs(clock_slowdown(&curve, 1, 1, 8) - 1.0 / 3) < 1e-9);
    assert_true(fabs(clock_slowdown(&curve, 0.5, 1, 8) - 0.5 / 3) < 1e-9);
    assert_true(clock_slowdown(&curve, 0, 1, 8) == 0);
    assert_true(clock_slowdown(&curve, 1, 8, 1) < 0);
    assert_true(clock_works(0) == 1 && clock_works(-1) == 1);
    assert_true(fabs(clock_works(1) - (1 - CLOCK_UNCLOCKED)) < 1e-9 &&
                clock_works(2) == clock_works(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_join_the_points),
        cmocka_unit_test(unknown_is_not_a_number_and_costs_nothing),
        cmocka_unit_test(only_what_works_goes_with_the_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
