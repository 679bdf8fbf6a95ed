/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_pairs - measured slowdowns wait in order for who takes them. */
#include "packer/steps/pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void test_order(void **state)
{
    struct pairs pairs = {0};
    struct pair pair = {.error = 0.1};

    (void)state;
    assert_false(pairs_take(&pairs, &pair));
    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < 13; i++) {
            pair.slowdown = 100 * turn + i;
            pairs_put(&pairs, &pair);
        }
        for (int i = 0; i < 13; i++) {
            assert_true(pairs_take(&pairs, &pair));
            assert_true(pair.slowdown == 100 * turn + i);
        }
        assert_false(pairs_take(&pairs, &pair));
    }
    pairs_free(&pairs);
}

/* Nobody takes them: the newest stay. */
static void test_full(void **state)
{
    struct pairs pairs = {0};
    struct pair pair = {.error = 0.1};

    (void)state;
    for (int i = 0; i < PAIRS_MAX + 10; i++) {
        pair.slowdown = i;
        pairs_put(&pairs, &pair);
    }
    assert_int_equal(pairs.n, PAIRS_MAX);
    assert_int_equal(pairs.lost, 10);
    assert_true(pairs_take(&pairs, &pair));
    assert_true(pair.slowdown == 10);
    pairs_free(&pairs);
}

static void test_parts(void **state)
{
    struct pair pair = {0};

    (void)state;
    assert_int_equal(pair_add(&pair, 7, 1), 0);
    assert_int_equal(pair_add(&pair, 3, 2), 0);
    assert_int_equal(pair_add(&pair, 7, 4), 0);
    assert_int_equal(pair.n, 2);
    assert_int_equal(pair.beside[0].program, 3);
    assert_int_equal(pair.beside[1].program, 7);
    assert_int_equal(pair.beside[1].cores, 5);
    for (uint16_t i = 0; pair.n < PAIR_BESIDE_MAX; i++)
        assert_int_equal(pair_add(&pair, (uint16_t)(100 + i), 1), 0);
    assert_int_equal(pair_add(&pair, 50, 1), -1);
    assert_int_equal(pair_add(&pair, 3, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_full),
                                       cmocka_unit_test(test_parts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
