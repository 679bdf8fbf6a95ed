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

struct level_case {
    double pressure;
    int before, level;
};

static void check(const struct level_case *cases, size_t n, int levels)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(steer_level(cases[i].pressure, cases[i].before, levels), cases[i].level);
}

static void test_coarse(void **state)
{
    static const struct level_case cases[] = {
        {NAN, 3, STEER_UNKNOWN},
        {0, STEER_UNKNOWN, 0},
        {0.124, STEER_UNKNOWN, 0},
        {0.126, STEER_UNKNOWN, 1},
        {0.5, STEER_UNKNOWN, 4},
        {0.99, STEER_UNKNOWN, 7},
        {7, STEER_UNKNOWN, 7},
        {-1, STEER_UNKNOWN, 0},
        {0.5, STEER_COARSE, 4}, /* a node that was empty has no level to keep */
        {0.31, 3, 2},           /* 2.48: level 3 is left below 2.5, */
        {0.32, 3, 3},           /* and kept at 2.56 */
        {0.56, 3, 3},           /* 4.48 */
        {0.57, 3, 4},           /* 4.56 */
        {1, 6, 7},
        {0.92, 6, 6}, /* 7.36 */
        {1, 5, 7},
    };

    (void)state;
    check(cases, sizeof(cases) / sizeof(*cases), STEER_COARSE);
}

static void test_fine(void **state)
{
    static const struct level_case cases[] = {
        {NAN, 3, STEER_UNKNOWN}, {0.5, STEER_UNKNOWN, 16}, {7, STEER_UNKNOWN, 31},
        {0.5, STEER_FINE, 16},   {0.485, 16, 16}, /* 15.52 */
        {0.484, 16, 15},                          /* 15.488 */
        {0.546, 16, 16},                          /* 17.47 */
        {0.547, 16, 17},                          /* 17.504 */
    };

    (void)state;
    check(cases, sizeof(cases) / sizeof(*cases), STEER_FINE);
}

/* A pressure that goes to and fro by less than a level changes nothing more than once. */
static void test_stays(void **state)
{
    static const int levels[] = {STEER_COARSE, STEER_FINE};

    (void)state;
    for (size_t l = 0; l < sizeof(levels) / sizeof(*levels); l++) {
        double by = 0.48 / levels[l];
        int level = STEER_UNKNOWN, changes = 0;

        for (int i = 0; i < 1000; i++) {
            int next = steer_level(0.5 + (i % 2 ? by : -by), level, levels[l]);

            changes += next != level;
            level = next;
        }
        assert_int_equal(changes, 1);
    }
}

static void test_weight(void **state)
{
    (void)state;
    assert_int_equal(steer_weight(10, STEER_UNKNOWN), 10);
    assert_int_equal(steer_weight(10, 0), 10);
    assert_int_equal(steer_weight(10, STEER_FINE), 42);
    assert_int_equal(steer_level_of(10, 18, STEER_COARSE), STEER_COARSE);
    assert_int_equal(steer_level_of(10, 42, STEER_FINE), STEER_FINE);
    assert_int_equal(steer_level_of(10, 10, STEER_FINE), 0);
    assert_int_equal(steer_level_of(10, 19, STEER_COARSE), STEER_UNKNOWN);
    assert_int_equal(steer_level_of(10, 19, STEER_FINE), 9);
    assert_int_equal(steer_level_of(10, 43, STEER_FINE), STEER_UNKNOWN);
    assert_int_equal(steer_level_of(10, 9, STEER_FINE), STEER_UNKNOWN);
}

static void test_room(void **state)
{
    static const uint32_t equal[] = {1, 1, 1}, apart[] = {1, 10, 10, 100}, near[] = {1, 1, 9, 50},
                          great[] = {UINT32_MAX - 17}, far[] = {1, 34, 34, 100};
    uint32_t a = 0, b = 0;

    (void)state;
    assert_true(steer_has_room(NULL, 0, STEER_FINE, &a, &b));
    assert_true(steer_has_room(equal, 3, STEER_FINE, &a, &b));
    assert_true(steer_has_room(far, 4, STEER_FINE, &a, &b));
    assert_false(steer_has_room(apart, 4, STEER_FINE, &a, &b));
    assert_true(steer_has_room(apart, 4, STEER_COARSE, &a, &b));
    assert_false(steer_has_room(near, 4, STEER_COARSE, &a, &b));
    assert_int_equal(a, 1);
    assert_int_equal(b, 9);
    assert_false(steer_has_room(great, 1, STEER_COARSE, &a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coarse), cmocka_unit_test(test_fine), cmocka_unit_test(test_stays),
        cmocka_unit_test(test_weight), cmocka_unit_test(test_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
