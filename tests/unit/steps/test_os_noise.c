/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_os_noise - what berthd does by itself, and what that costs: the formula beside the
 * simulation of tests/bench/silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "packer/steps/os_noise.h"
#include "tests/bench/silence_sim.h"

#define BEGAN_S 1000.0

static void test_nothing(void **state)
{
    struct os_noise noise = {0};

    (void)state;
    assert_true(os_noise_told(&noise, BEGAN_S).seconds == 0);
    assert_true(os_noise_longer(&noise, BEGAN_S, 1000, 0.005, false) == 1);
}

static void test_told(void **state)
{
    struct os_noise noise = {0};
    struct os_noise_told told;

    (void)state;
    for (int i = 0; i < 100; i++)
        os_noise_add(&noise, BEGAN_S + i, i == 50 ? 0.003 : 0.001);
    told = os_noise_told(&noise, BEGAN_S + 100);
    assert_float_equal(told.seconds, 100, 1e-9);
    assert_float_equal(told.per_s, 1, 1e-9);
    assert_float_equal(told.core, 0.00102, 1e-9);
    assert_float_equal(told.longest_s, 0.003, 1e-9);
}

/* What was long ago is told no more. */
static void test_forgets(void **state)
{
    struct os_noise noise = {0};

    (void)state;
    os_noise_add(&noise, BEGAN_S, 0.5);
    os_noise_add(&noise, BEGAN_S + OS_NOISE_HALF_S, 0.001);
    assert_float_equal(os_noise_told(&noise, BEGAN_S + 400).longest_s, 0.5, 1e-9);
    os_noise_add(&noise, BEGAN_S + 2 * OS_NOISE_HALF_S, 0.001);
    assert_float_equal(os_noise_told(&noise, BEGAN_S + 700).longest_s, 0.001, 1e-9);
    assert_float_equal(os_noise_told(&noise, BEGAN_S + 700).seconds, 400, 1e-9);
}

/* The same bursts for both: so many a second, and one in ten is ten times as long. */
static void make(struct silence_train *train, struct os_noise *noise, double per_s, double run_s)
{
    *train = (struct silence_train){.began_s = BEGAN_S, .seconds = 200, .by = "made"};
    *noise = (struct os_noise){0};
    noise->half[0].since_s = BEGAN_S;
    for (int i = 0; i < 200 * per_s; i++) {
        double at_s = BEGAN_S + (i + 0.5) / per_s, long_s = i % 10 ? run_s : 10 * run_s;
        const struct silence_burst burst = {at_s, at_s + long_s, long_s, 0, 1};

        silence_train_add(train, &burst);
        os_noise_add(noise, at_s, long_s);
    }
    silence_train_sort(train);
}

static void test_as_played(void **state)
{
    static const size_t nodes[] = {10, 100, 1000};
    static const double iteration_s[] = {0.001, 0.005, 0.02, 0.1};
    struct silence_train train;
    struct os_noise noise;

    (void)state;
    make(&train, &noise, 1, 0.0002);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) {
            const struct silence_program program = {
                .nodes = nodes[i], .iteration_s = iteration_s[j], .seed = 1};
            double played = silence_longer(&train, &program) - 1;
            double told =
                os_noise_longer(&noise, BEGAN_S + 200, nodes[i], iteration_s[j], false) - 1;

            if (!(fabs(told - played) < 0.3 * played + 0.003))
                fail_msg("%zu nodes, %g s: %g, played %g", nodes[i], iteration_s[j], told, played);
        }
    assert_float_equal(os_noise_longer(&noise, BEGAN_S + 200, 1000, 0.005, true), 1 + 0.00038,
                       1e-6);
    silence_train_clear(&train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_forgets),
        cmocka_unit_test(test_as_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
