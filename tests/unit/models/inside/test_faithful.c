/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_faithful - Table 5.1 with its bounds, the two phases of ammp, and what is no change. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/inside/faithful.h"

/* Each row's ends as they are printed, and the gaps between them. */
static const struct {
    double scaling;
    unsigned quantum_ms;
} bounds[] = {
    {0, 250},    {0.01, 250}, {0.10, 250},   {0.1001, 200}, {0.11, 200}, {0.20, 200},
    {0.21, 150}, {0.30, 150}, {1 - .7, 150}, {0.31, 120},   {0.40, 120}, {0.41, 100},
    {0.50, 100}, {0.51, 80},  {0.60, 80},    {0.61, 50},    {0.70, 50},  {0.71, 30},
    {0.80, 30},  {0.81, 20},  {0.90, 20},    {0.91, 10},    {1.00, 10},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
        assert_int_equal(faithful_quantum_ms(bounds[i].scaling), bounds[i].quantum_ms);
    assert_int_equal(faithful_quantum_ms(NAN), 0);
}

static void test_scaling(void **state)
{
    (void)state;
    assert_true(faithful_scaling(0.3, 0.84) == 1 - 0.84);
    assert_true(faithful_scaling(0.84, 0.3) == 1 - 0.84);
    assert_true(faithful_scaling(0.25, NAN) == 0.75);
    assert_true(faithful_scaling(NAN, 0.25) == 0.75);
    assert_true(isnan(faithful_scaling(NAN, NAN)));
    assert_true(faithful_scaling(1.5, 0) == 0);
    assert_true(faithful_scaling(-1, -1) == 1);
}

/* ammp: 84 % of the time waiting for locks, then 12 %. */
static void test_ammp(void **state)
{
    struct faithful faithful = {0};

    (void)state;
    assert_true(faithful_take(&faithful, NAN, 0.84));
    assert_int_equal(faithful.quantum_ms, 200);
    for (int i = 0; i < 24; i++)
        assert_false(faithful_take(&faithful, NAN, 0.84));
    assert_true(faithful_take(&faithful, NAN, 0.12));
    assert_int_equal(faithful.quantum_ms, 20);
    assert_false(faithful_take(&faithful, NAN, 0.12));
}

/* The factor is compared with the one that gave the quantum, not with the last one: a slow drift is
 * followed in steps, and what swings by less changes nothing. */
static void test_hysteresis(void **state)
{
    struct faithful faithful = {0};
    unsigned changes = 0;

    (void)state;
    assert_true(faithful_take(&faithful, 0.50, NAN));  /* 100 ms */
    assert_false(faithful_take(&faithful, 0.40, NAN)); /* another row, but no more than 0.10 off */
    assert_false(faithful_take(&faithful, 0.60, NAN));
    assert_int_equal(faithful.quantum_ms, 100);
    assert_true(faithful_take(&faithful, 0.39, NAN));
    assert_int_equal(faithful.quantum_ms, 50);
    assert_false(faithful_take(&faithful, NAN, NAN)); /* nothing measured is no change */
    for (int i = 39; i >= 0; i--) /* a drift of 0.01 at a time: 0.28, 0.17, 0.06 */
        changes += faithful_take(&faithful, i / 100., NAN);
    assert_int_equal(changes, 3);
    assert_int_equal(faithful.quantum_ms, 10);
}

/* A change of the factor is always one of the quantum: the rows are as wide as the range. */
static void test_change_is_another_quantum(void **state)
{
    (void)state;
    for (int old = 0; old <= 1000; old++)
        for (int new = 0; new <= 1000; new ++) {
            struct faithful faithful = {0};
            unsigned before;

            faithful_take(&faithful, old / 1000., NAN);
            before = faithful.quantum_ms;
            assert_int_equal(faithful_take(&faithful, new / 1000., NAN), abs(new - old) > 100);
            assert_int_equal(faithful.quantum_ms != before, abs(new - old) > 100);
        }
}

static void test_ready(void **state)
{
    struct faithful faithful = {0};

    (void)state;
    assert_false(faithful_ready(&faithful, 9, 10, false));
    assert_false(faithful_ready(&faithful, 10, 11, true));
    assert_false(faithful_ready(&faithful, 11, 11.9, true));
    assert_false(faithful_ready(&faithful, 11.9, 13, true)); /* it begins in that second */
    assert_true(faithful_ready(&faithful, 12, 13, true));
    assert_false(faithful_ready(&faithful, 13, 14, false));
    assert_false(faithful_ready(&faithful, 14, 15, true)); /* others */
    assert_false(faithful_ready(&faithful, 15, 16, true));
    assert_true(faithful_ready(&faithful, 16, 17, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_ammp),
        cmocka_unit_test(test_hysteresis),
        cmocka_unit_test(test_change_is_another_quantum),
        cmocka_unit_test(test_ready),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
