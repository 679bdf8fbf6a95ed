/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_saturation - the states along series of samples, by how long a sample has to hold. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/tasks/saturation.h"
#include "models/tasks/throttle.h"

#define SERIES_MAX 16

/* A letter a sample and a state: i(dle) 0.1, I 0.6, n(ormal) 0.7, s(aturated) 0.9, S 1, - unknown.
 */
static double value(char letter)
{
    static const char letters[] = "iInsS-";
    static const double values[] = {0.1, 0.6, 0.7, 0.9, 1, NAN};

    return values[strchr(letters, letter) - letters];
}

static char letter(enum saturation_state state)
{
    return state == SATURATION_UNKNOWN ? '-' : saturation_name[state][0];
}

static const struct {
    unsigned hold;
    const char *samples, *states;
} series[] = {
    {1, "iInsSn-i", "iinssn-i"},             /* the bounds themselves: 0.6 is idle, 0.9 saturated */
    {2, "ssnnssss", "-ssnnsss"},             /* the second in a row */
    {3, "sssnissnnn", "--sssssssn"},         /* what does not last changes nothing */
    {3, "ssssisisis", "--ssssssss"},         /* alternating is not in a row */
    {3, "sss-ssiii", "--ssssssi"},           /* a sample that was missed ends no contention, */
    {3, "sss---sss", "--sss---s"},           /* a counter that is gone does */
    {5, "Ssssnnnnniiiii", "--------nnnnni"}, /* four are too few of five */
};

static void test_series(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++) {
        struct saturation_rules rules = {0.9, 0.6, series[i].hold};
        struct saturation saturation = {0};
        char states[SERIES_MAX + 1] = "", before = '-';

        for (size_t j = 0; series[i].samples[j]; j++) {
            bool changed = saturation_take(&saturation, &rules, value(series[i].samples[j]));

            states[j] = letter(saturation.state);
            assert_int_equal(changed, states[j] != before);
            before = states[j];
        }
        assert_string_equal(states, series[i].states);
    }
}

/* 32 -> 24 -> 32 as in the paper; too few threads to rest a quarter of them all run. */
static void test_correct(void **state)
{
    (void)state;
    assert_int_equal(throttle_correct(SATURATION_SATURATED, 32, 32), 24);
    assert_int_equal(throttle_correct(SATURATION_SATURATED, 32, 24), 24);
    assert_int_equal(throttle_correct(SATURATION_NORMAL, 32, 24), 24);
    assert_int_equal(throttle_correct(SATURATION_NORMAL, 32, 32), 32);
    assert_int_equal(throttle_correct(SATURATION_IDLE, 32, 24), 32);
    assert_int_equal(throttle_correct(SATURATION_UNKNOWN, 32, 24), 32);
    assert_int_equal(throttle_correct(SATURATION_SATURATED, 3, 3), 3);
    assert_int_equal(throttle_correct(SATURATION_SATURATED, 6, 6), 5);
}

static void test_knee(void **state)
{
    const double bends[] = {0, 10, 20, 28, 28.9, 28.95}, even[] = {0, 10, 20, 30, 40},
                 falls[] = {0, 10, 9}, unknown[] = {0, 10, NAN, 30}, none[] = {0, NAN};

    (void)state;
    assert_int_equal(saturation_knee(5, bends), 3);
    assert_int_equal(saturation_knee(4, even), 4);
    assert_int_equal(saturation_knee(2, falls), 1);
    assert_int_equal(saturation_knee(3, unknown), 0);
    assert_int_equal(saturation_knee(1, none), 0);
    assert_int_equal(saturation_knee(1, even), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_series),
        cmocka_unit_test(test_correct),
        cmocka_unit_test(test_knee),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
