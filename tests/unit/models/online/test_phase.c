/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_phase - what begins a phase and what does not: steps, outliers, drifts, noise, gaps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "models/online/phase.h"
#include "tests/unit/common/noise.h"

static const double least[2] = {100, 0.05};

static bool add(struct phase *phase, double first, double second)
{
    struct phase_window window = {.x = {1, isnan(second) ? 0 : 1}, .y = {first, second}};

    return phase_add(phase, &window);
}

static double mean(const struct phase *phase)
{
    return rate_mean(&phase->rate[0]);
}

static void test_step(void **state)
{
    struct phase phase;

    (void)state;
    phase_init(&phase, 2, 1, 0.25, least);
    for (int i = 0; i < 10; i++)
        assert_false(add(&phase, 1000 + i % 2, 1));
    assert_false(add(&phase, 3000, 1));
    assert_true(phase.holds);
    assert_true(fabs(mean(&phase) - 1000.5) < 0.1);
    assert_true(add(&phase, 3100, 1));
    assert_int_equal(phase.number, 2);
    assert_false(phase.holds);
    assert_true(fabs(mean(&phase) - 3050) < 1e-9);
    assert_true(phase.rate[0].n == 2);
}

static void test_outlier(void **state)
{
    struct phase phase;

    (void)state;
    phase_init(&phase, 2, 1, 0.25, least);
    for (int i = 0; i < 9; i++)
        add(&phase, 1000 + i % 2, 1);
    assert_false(add(&phase, 9000, 1)); /* one */
    assert_false(add(&phase, 1000, 1));
    assert_int_equal(phase.number, 1);
    assert_true(phase.rate[0].n == 11);  /* not lost */
    assert_false(add(&phase, 99000, 1)); /* above, then below: no phase either */
    assert_false(add(&phase, 0, 1));
    assert_int_equal(phase.number, 1);
}

/* The windows of the first step: nothing is known of the deviation, two windows are enough. */
static void test_early(void **state)
{
    struct phase phase;

    (void)state;
    phase_init(&phase, 2, 1, 0.25, least);
    add(&phase, 1000, 1);
    assert_false(add(&phase, 5000, 1));
    assert_true(add(&phase, 5000, 1));
    assert_true(fabs(mean(&phase) - 5000) < 1e-9);
}

static void test_small_and_unwatched(void **state)
{
    struct phase phase;

    (void)state;
    phase_init(&phase, 2, 1, 0.25, least);
    for (int i = 0; i < 20; i++)
        assert_false(add(&phase, i < 10 ? 10 : 90, i < 10 ? 1 : 3)); /* 80 of 100; rate 1 */
    assert_int_equal(phase.number, 1);
}

/* Each kind of noise that real windows have, a long time: no phase. A mean of 1000 with a deviation
 * of 400 often lies off by more than a quarter, but never by four deviations twice. */
static void test_noise(void **state)
{
    struct noise noise = {7};
    struct phase phase;
    int late = 0;

    (void)state;
    for (int run = 0; run < 20; run++) {
        phase_init(&phase, 2, 3, 0.25, least);
        for (int i = 0; i < 20; i++) /* until it is settled */
            add(&phase, 1000 + 20 * noise_normal(&noise), 1);
        for (int i = 0; i < 200; i++)
            add(&phase, 1000 + (i < 100 ? i : 100) * 4 * noise_normal(&noise), 1);
        phase.number = 1;
        for (int i = 0; i < 10000; i++)
            late += add(&phase, fmax(0, 1000 + 400 * noise_normal(&noise)), 1);
    }
    assert_int_equal(late, 0);
}

static void test_noisy_step(void **state)
{
    struct noise noise = {11};
    int found = 0;

    (void)state;
    for (int run = 0; run < 500; run++) {
        struct phase phase;

        phase_init(&phase, 2, 1, 0.25, least);
        for (int i = 0; i < 30; i++)
            add(&phase, 1000 * (1 + 0.1 * noise_normal(&noise)), 1);
        for (int i = 0; i < 3; i++)
            add(&phase, 2000 * (1 + 0.1 * noise_normal(&noise)), 1);
        found += phase.number == 2 && mean(&phase) > 1700;
    }
    if (found < 475)
        fail_msg("%d of 500 steps were found", found);
}

static void test_drift(void **state)
{
    struct phase phase;
    int changes = 0;

    (void)state;
    phase_init(&phase, 2, 1, 0.25, least);
    for (int i = 0; i < 3000; i++)
        changes += add(&phase, 1000 + i, 1);
    assert_true(fabs(mean(&phase) - 4000) < 250);
    assert_int_equal(changes, 0);
}

/* A window that says nothing of a rate changes nothing of it, nor does it hold others up. */
static void test_gaps(void **state)
{
    struct phase phase;

    (void)state;
    phase_init(&phase, 2, 3, 0.25, least);
    for (int i = 0; i < 10; i++)
        add(&phase, 1000, i % 2 ? NAN : 2);
    assert_true(phase.rate[0].n == 10);
    assert_true(phase.rate[1].n == 5);
    assert_false(add(&phase, 1000, 5));
    assert_true(add(&phase, 1000, 5)); /* the second rate alone */
    assert_int_equal(phase.number, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step),  cmocka_unit_test(test_outlier),
        cmocka_unit_test(test_early), cmocka_unit_test(test_small_and_unwatched),
        cmocka_unit_test(test_noise), cmocka_unit_test(test_noisy_step),
        cmocka_unit_test(test_drift), cmocka_unit_test(test_gaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
