/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_verdict - what fewer cores cost: only against the same phase beside the same neighbours, and
 * above a bound only beyond doubt. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/online/verdict.h"

/* n windows of a second with so many instructions, each `noise` above or below in turn. */
static void run(struct verdict *verdict, size_t n, double speed, double noise, double pmi,
                uint64_t who, bool fewer)
{
    for (size_t i = 0; i < n; i++) {
        double instructions = speed * (1 + (i % 2 ? noise : -noise));
        struct verdict_window window = {.seconds = 1,
                                        .instructions = instructions,
                                        .misses = pmi * instructions / 1e6,
                                        .bytes = NAN,
                                        .who = who};

        verdict_window(verdict, &window, fewer);
    }
}

static void test_loss(void **state)
{
    struct verdict verdict = {0};
    double error;

    (void)state;
    assert_true(isnan(verdict_loss(&verdict, &error)) && isnan(error));
    run(&verdict, 10, 4e9, 0.01, 20000, 1, false);
    assert_true(isnan(verdict_loss(&verdict, &error)));
    run(&verdict, VERDICT_WINDOWS - 1, 3.6e9, 0.01, 20000, 1, true);
    assert_false(verdict_exceeds(&verdict, 0.02));
    run(&verdict, 5, 3.6e9, 0.01, 20000, 1, true);
    assert_true(fabs(verdict_loss(&verdict, &error) - 0.1) < 0.005);
    assert_true(error > 0.001 && error < 0.01);
    assert_true(verdict_exceeds(&verdict, 0.02));
    assert_false(verdict_exceeds(&verdict, 0.1));
    verdict_resized(&verdict);
    assert_true(isnan(verdict_loss(&verdict, &error)));
}

/* What an earlier run did on all cores counts for one that never had them: alone, in the same
 * phase, and until the run has shown it itself. */
static void test_told(void **state)
{
    struct verdict verdict = {0}, first = {0};
    double error;

    (void)state;
    run(&first, VERDICT_WINDOWS - 1, 4e9, 0.01, 20000, 0, false);
    assert_true(verdict_speed(&first).windows == 0);
    run(&first, 7, 4e9, 0.01, 20000, 0, false);
    verdict.told = verdict_speed(&first);
    assert_true(verdict.told.windows == VERDICT_WINDOWS + 6);
    run(&verdict, 8, 3e9, 0.01, 20000, 1, true);
    assert_true(isnan(verdict_loss(&verdict, &error)));
    run(&verdict, 8, 3e9, 0.01, 50000, 0, true);
    assert_true(isnan(verdict_loss(&verdict, &error)));
    run(&verdict, 8, 3e9, 0.01, 20500, 0, true);
    assert_true(fabs(verdict_loss(&verdict, &error) - 0.25) < 0.01);
    assert_true(error < 0.01 && verdict_exceeds(&verdict, 0.2));
    run(&verdict, 8, 3.03e9, 0.01, 20500, 0, false);
    assert_true(fabs(verdict_loss(&verdict, &error)) < 0.02);
}

/* What is within the noise is no loss, and no gain is one. */
static void test_doubt(void **state)
{
    struct verdict noisy = {0}, faster = {0};

    (void)state;
    run(&noisy, 4, 4e9, 0.2, 20000, 1, false);
    run(&noisy, 4, 3.8e9, 0.2, 20000, 1, true);
    assert_false(verdict_exceeds(&noisy, 0.02));
    run(&faster, 20, 4e9, 0.01, 20000, 1, false);
    run(&faster, 20, 4.4e9, 0.01, 20000, 1, true);
    assert_false(verdict_exceeds(&faster, 0.02));
    assert_false(verdict_exceeds(&faster, 0));
}

/* A slower phase, or a neighbour who came, is not what the size costs. */
static void test_only_the_same(void **state)
{
    struct verdict verdict = {0};
    double error;

    (void)state;
    run(&verdict, 10, 4e9, 0.01, 20000, 1, false);
    run(&verdict, 10, 2e9, 0.01, 90000, 1, true);
    assert_true(isnan(verdict_loss(&verdict, &error)));
    run(&verdict, 10, 2e9, 0.01, 20000, 2, true);
    assert_true(isnan(verdict_loss(&verdict, &error)));
    run(&verdict, 10, 3.99e9, 0.01, 22000, 1,
        true); /* on fewer cores it looks a little different */
    assert_true(fabs(verdict_loss(&verdict, &error)) < 0.01);
    assert_false(verdict_exceeds(&verdict, 0.02));
}

/* Two phases in turn keep what was measured of each, and the oldest of many gives way. */
static void test_phases(void **state)
{
    struct verdict verdict = {0};
    double error;

    (void)state;
    run(&verdict, 6, 4e9, 0.01, 20000, 1, false);
    run(&verdict, 6, 2e9, 0.01, 90000, 1, false);
    run(&verdict, 6, 3e9, 0.01, 20000, 1, true);
    assert_true(verdict_exceeds(&verdict, 0.2));
    run(&verdict, 6, 2e9, 0.01, 90000, 1, true);
    assert_false(verdict_exceeds(&verdict, 0.02));
    for (uint64_t who = 2; who < 2 + VERDICT_PHASES; who++)
        run(&verdict, 1, 2e9, 0.01, 90000, who, false);
    run(&verdict, 6, 3e9, 0.01, 20000, 1, true);
    assert_true(isnan(verdict_loss(&verdict, &error)));
}

static void test_nothing_counted(void **state)
{
    struct verdict verdict = {0};
    struct verdict_window nothing = {1, NAN, NAN, NAN, 1}, idle = {1, 0, 0, 0, 1},
                          blind = {1, 1e9, NAN, NAN, 1};

    (void)state;
    verdict_window(&verdict, &nothing, false);
    verdict_window(&verdict, &idle, false);
    verdict_window(&verdict, &blind, false);
    assert_int_equal(verdict.n, 0);
    assert_true(isnan(verdict_signature(&verdict).rate[OPTICORE_MISSES]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss),   cmocka_unit_test(test_told),
        cmocka_unit_test(test_doubt),  cmocka_unit_test(test_only_the_same),
        cmocka_unit_test(test_phases), cmocka_unit_test(test_nothing_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
