/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_threshold - eq. 3.3 and 3.4, what becomes of them as they are printed, and of them here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/tasks/threshold.h"

/* Queues of 100 ns, tasks of 10 us: S is C and s is 0. */
static void test_printed(void **state)
{
    const struct threshold_rates rates = {
        .capacity = 64, .lambda_per_s = 1e5, .mu_per_s = 1e5, .push_s = 1e-7, .pop_s = 1e-7};
    struct threshold literal = threshold_of(&rates, true);

    (void)state;
    assert_int_equal(literal.victim, 64);
    assert_int_equal(literal.thief, 0);
    assert_false(threshold_is_victim(&literal, false, 63));
    assert_true(threshold_is_victim(&literal, false, 64));
    assert_false(threshold_is_victim(&literal, false, 65)); /* jumped over */
    assert_true(threshold_is_victim(&literal, true, 1)); /* and never cleared before it is empty */
    assert_false(threshold_is_victim(&literal, true, 0));
}

static void test_mended(void **state)
{
    const struct threshold_rates rates = {.capacity = 10};
    struct threshold threshold = threshold_of(&rates, false);

    (void)state;
    assert_false(threshold_is_victim(&threshold, false, 9));
    assert_true(threshold_is_victim(&threshold, false, 10));
    assert_true(threshold_is_victim(&threshold, false, 1000));
    assert_true(threshold_is_victim(&threshold, true, 5));
    assert_false(threshold_is_victim(&threshold, true, 4));
}

/* Small trees can be stolen from, and an empty queue is nobody's, whatever the rates are. */
static void test_bounds(void **state)
{
    static const struct threshold_rates rates[] = {
        {.capacity = 0},
        {.capacity = 2},
        {.capacity = 4, .lambda_per_s = 1e9, .push_s = 1e-6},
        {.capacity = 4, .mu_per_s = 1e9, .pop_s = 1e-6},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct threshold threshold = threshold_of(&rates[i], false);

        assert_in_range(threshold.victim, 2, 4);
        assert_true(threshold.clear >= 1 && threshold.clear < threshold.victim);
        assert_true(threshold.thief < threshold.clear);
        assert_false(threshold_is_victim(&threshold, true, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printed),
        cmocka_unit_test(test_mended),
        cmocka_unit_test(test_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
