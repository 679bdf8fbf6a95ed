/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_perf_scale - counts that shared a counter are scaled window by window, and their stated
 * error is the one they have. */
#include "packer/counters/perf_scale.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define MS 1000000ull

static void near(double got, double want)
{
    if (fabs(got - want) > 1e-9 * fmax(1, fabs(want)))
        fail_msg("%.17g, not %.17g", got, want);
}

static struct perf_estimate estimate_of(const struct perf_scale *scale)
{
    struct perf_estimate estimate = {0};

    perf_estimate_add(&estimate, scale);
    return estimate;
}

struct reading {
    uint64_t count, enabled_ms, running_ms; /* since it was opened */
};

static const struct {
    const char *what;
    struct reading reading[5]; /* up to one of zeros */
    double value, error;
    bool known;
} cases[] = {
    {"never enabled: nothing ran, nothing was counted", {{0}}, 0, 0, true},
    {"alone on its counter: exact", {{1000, 8, 8}, {5000, 16, 16}}, 5000, 0, true},
    {"no turn yet: not known", {{0, 10, 0}}, 0, 0, false},
    {"half of the time: twice the count; 4 turns counted of 8: sqrt(1/2 * 1/4)",
     {{1000, 32, 16}},
     2000,
     0.35355339059327379,
     true},
    {"less than a turn counted is taken as one: sqrt(1/2)",
     {{10, 2, 1}},
     20,
     0.70710678118654757,
     true},
    {"the rate of each window is its own: 2 * 1000 + 4 * 100; variance 500000 + 30000",
     {{1000, 32, 16}, {1100, 96, 32}},
     2400,
     0.30333791,
     true},
    {"a window without a turn is lengthened: 1000 exact, then 1000 in 4 of 12 ms",
     {{1000, 8, 8}, {1000, 16, 8}, {2000, 20, 12}},
     4000,
     0.61237244,
     true},
    {"and until then the count stays where it was", {{1000, 8, 8}, {1000, 16, 8}}, 1000, 0, true},
    {"three windows of one rate: no spread, no error",
     {{1000, 32, 16}, {2000, 64, 32}, {3000, 96, 48}},
     6000,
     0,
     true},
    {"rates 1000, 2000, 1000 in 16 of 32 ms: s^2 = 2 * 1000^2 / 4, variance 3 * 2 * s^2",
     {{1000, 32, 16}, {3000, 64, 32}, {4000, 96, 48}},
     8000,
     0.21650635094610965,
     true},
    {"a little more running than enabled is exact", {{1000, 7, 8}}, 1000, 0, true},
    {"and so is a little less", {{1000, 10000, 9995}}, 1000, 0, true},
};

static void test_windows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct perf_scale scale = {0};
        struct perf_estimate got;
        double before = 0;

        for (const struct reading *at = cases[i].reading; at->enabled_ms; at++) {
            perf_scale_add(&scale, at->count, at->enabled_ms * MS, at->running_ms * MS);
            assert_true(scale.value >= before);
            before = scale.value;
        }
        got = estimate_of(&scale);
        if (fabs(got.value - cases[i].value) > 1e-6 ||
            fabs(perf_estimate_error(&got) - cases[i].error) > 1e-6 ||
            perf_estimate_known(&got) != cases[i].known)
            fail_msg("%s: %.9g with error %.9g, %sknown", cases[i].what, got.value,
                     perf_estimate_error(&got), perf_estimate_known(&got) ? "" : "not ");
    }
}

/* CPUs and events are independent: values and variances add up. */
static void test_sum(void **state)
{
    struct perf_scale exact = {0}, shared = {0};
    struct perf_estimate sum = {0}, one;

    (void)state;
    perf_scale_add(&exact, 6000, 10 * MS, 10 * MS);
    perf_scale_add(&shared, 1000, 32 * MS, 16 * MS);
    one = estimate_of(&shared);
    perf_estimate_add(&sum, &exact);
    perf_estimate_add(&sum, &shared);
    near(sum.value, 8000);
    near(sum.variance, one.variance);
    near(perf_estimate_error(&sum), perf_estimate_error(&one) / 4);
}

/* A CPU that got no turn makes the sum unknown when it is the greater part of the time. */
static void test_uncovered(void **state)
{
    struct perf_scale counted = {0}, starved = {0};
    struct perf_estimate sum;

    (void)state;
    perf_scale_add(&counted, 1000, 10 * MS, 10 * MS);
    perf_scale_add(&starved, 0, 9 * MS, 0);
    sum = estimate_of(&counted);
    perf_estimate_add(&sum, &starved);
    assert_true(perf_estimate_known(&sum));
    perf_scale_add(&starved, 0, 11 * MS, 0);
    sum = estimate_of(&counted);
    perf_estimate_add(&sum, &starved);
    assert_false(perf_estimate_known(&sum));
}

/* Turns whose rates are independent draws: the stated error is the root of the mean squared one. */
static void test_stated_error(void **state)
{
    const int trials = 4000, windows = 10, turns = 25;
    double squares = 0, stated = 0;

    (void)state;
    srand48(5);
    for (int trial = 0; trial < trials; trial++) {
        struct perf_scale scale = {0};
        double truth = 0, counted = 0;
        uint64_t enabled = 0, running = 0;

        for (int window = 0; window < windows; window++) {
            for (int turn = 0; turn < turns; turn++) {
                double rate = 1e5 * (1 + (drand48() < 0.3 ? 4 : 0) + drand48());

                truth += rate;
                enabled += 4 * MS;
                if (turn % 3 == window % 3) {
                    counted += rate;
                    running += 4 * MS;
                }
            }
            perf_scale_add(&scale, (uint64_t)counted, enabled, running);
        }
        squares += (scale.value - truth) * (scale.value - truth);
        stated += estimate_of(&scale).variance;
    }
    print_message("stated error / true error: %.3f\n", sqrt(stated / squares));
    assert_true(sqrt(stated / squares) > 0.93 && sqrt(stated / squares) < 1.07);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_uncovered),
        cmocka_unit_test(test_stated_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
