/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_steer - the level of a node's memory, what keeps it from going to and fro, and the weights
 * that leave the admin's order as it is. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/placing/steer.h"

static void test_level(void **state)
{
    static const struct {
        double pressure;
        int before, level;
    } cases[] = {
        {NAN, 3, STEER_UNKNOWN},
        {0, STEER_UNKNOWN, 0},
        {0.124, STEER_UNKNOWN, 0},
        {0.126, STEER_UNKNOWN, 1},
        {0.5, STEER_UNKNOWN, 4},
        {0.99, STEER_UNKNOWN, 7},
        {7, STEER_UNKNOWN, 7},
        {-1, STEER_UNKNOWN, 0},
        {0.5, STEER_EMPTY, 4}, /* a node that was empty has no level to keep */
        {0.31, 3, 2},          /* 2.48: level 3 is left below 2.5, */
        {0.32, 3, 3},          /* and kept at 2.56 */
        {0.56, 3, 3},          /* 4.48 */
        {0.57, 3, 4},          /* 4.56 */
        {1, 6, 7},
        {0.92, 6, 6}, /* 7.36 */
        {1, 5, 7},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(steer_level(cases[i].pressure, cases[i].before), cases[i].level);
}

/* A pressure that goes to and fro by less than a level changes nothing more than once. */
static void test_stays(void **state)
{
    int level = STEER_UNKNOWN, changes = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        int next = steer_level(0.5 + (i % 2 ? 0.06 : -0.06), level);

        changes += next != level;
        level = next;
    }
    assert_int_equal(changes, 1);
}

static void test_weight(void **state)
{
    (void)state;
    assert_int_equal(steer_weight(10, STEER_UNKNOWN), 10);
    assert_int_equal(steer_weight(10, 0), 10);
    assert_int_equal(steer_weight(10, STEER_EMPTY), 18);
    assert_int_equal(steer_level_of(10, 18), STEER_EMPTY);
    assert_int_equal(steer_level_of(10, 10), 0);
    assert_int_equal(steer_level_of(10, 19), STEER_UNKNOWN);
    assert_int_equal(steer_level_of(10, 9), STEER_UNKNOWN);
}

static void test_room(void **state)
{
    static const uint32_t equal[] = {1, 1, 1}, apart[] = {1, 10, 10, 100}, near[] = {1, 1, 9, 50},
                          great[] = {UINT32_MAX - 17};
    uint32_t a = 0, b = 0;

    (void)state;
    assert_true(steer_has_room(NULL, 0, &a, &b));
    assert_true(steer_has_room(equal, 3, &a, &b));
    assert_true(steer_has_room(apart, 4, &a, &b));
    assert_false(steer_has_room(near, 4, &a, &b));
    assert_int_equal(a, 1);
    assert_int_equal(b, 9);
    assert_false(steer_has_room(great, 1, &a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level),
        cmocka_unit_test(test_stays),
        cmocka_unit_test(test_weight),
        cmocka_unit_test(test_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
