/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_walk - bars, idle caches, rounds and ranks; what the walk is used for is tested in
 * test_dio_power. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/walk.h"

enum { LEVEL_PACKAGE, LEVEL_CACHE };

/* Two packages of two caches of two cores. */
static const size_t packages[] = {0, 0}, caches[] = {0, 0, 1, 1},
                    cores[] = {0, 0, 1, 1, 2, 2, 3, 3};
static const struct di_level level[] = {{2, packages}, {4, caches}, {8, cores}};
static const struct di_machine machine = {3, level};

static size_t place(struct walk *walk, bool devil)
{
    size_t core = walk_choose(walk, devil);

    assert_int_equal(walk_choose(walk, devil), core); /* looking changes nothing */
    walk_take(walk, core);
    return core;
}

static void test_bars(void **state)
{
    struct walk *walk = walk_new(&machine, 4);

    (void)state;
    assert_non_null(walk);
    assert_int_equal(place(walk, true), 0);
    walk_bar(walk, LEVEL_CACHE, 0);
    walk_bar(walk, LEVEL_PACKAGE, 0); /* around the barred cache */
    walk_bar(walk, LEVEL_CACHE, 2);   /* and inside the barred package: no change */
    assert_int_equal(place(walk, true), 4);
    assert_int_equal(place(walk, true), 6);
    assert_int_equal(place(walk, false), 2); /* the package with fewer threads */
    walk_bar(walk, LEVEL_PACKAGE, 4);
    assert_int_not_equal(place(walk, true), 0); /* no choice: as anybody */
    walk_free(walk);
}

/* Beyond the cores all are free once more, and bars stay. */
static void test_rounds(void **state)
{
    struct walk *walk = walk_new(&machine, 4);
    unsigned taken = 0;

    (void)state;
    assert_non_null(walk);
    walk_bar(walk, LEVEL_PACKAGE, 7);
    for (size_t i = 0; i < 8; i++)
        taken |= 1u << place(walk, i < 4);
    assert_int_equal(taken, 255);
    for (size_t i = 0; i < 4; i++)
        assert_in_range(place(walk, true), 0, 3);
    walk_free(walk);
}

static void test_idle(void **state)
{
    struct walk *walk = walk_new(&machine, 3);
    unsigned taken = 0;

    (void)state;
    assert_non_null(walk);
    for (size_t i = 0; i < 12; i++)
        taken |= 1u << place(walk, false);
    assert_int_equal(taken, 63);
    walk_free(walk);
    errno = 0;
    assert_null(walk_new(&machine, 0));
    assert_int_equal(errno, EINVAL);
    walk_free(NULL);
}

static void test_unsound(void **state)
{
    static const size_t beyond[] = {0, 2}, falling[] = {1, 0};
    static const struct di_level out[] = {{2, packages}, {2, beyond}};
    static const struct di_level fall[] = {{2, packages}, {2, falling}};
    static const struct di_level empty[] = {{2, packages}, {0, packages}};
    static const struct di_machine bad[] = {{0, NULL}, {1, level}, {2, out}, {2, fall}, {2, empty}};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        errno = 0;
        assert_null(walk_new(&bad[i], 2));
        assert_int_equal(errno, EINVAL);
    }
}

static void test_rank(void **state)
{
    static const double miss_pmi[] = {5, 9, 0, 5, 9}, wrong[] = {-1, NAN, INFINITY};
    static const size_t want[] = {1, 4, 0, 3, 2};
    size_t order[5];

    (void)state;
    assert_int_equal(walk_rank(5, miss_pmi, order), 0);
    assert_memory_equal(order, want, sizeof(want));
    assert_int_equal(walk_rank(0, NULL, NULL), 0);
    for (size_t i = 0; i < 3; i++) {
        errno = 0;
        assert_int_equal(walk_rank(1, &wrong[i], order), -1);
        assert_int_equal(errno, EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bars),    cmocka_unit_test(test_rounds), cmocka_unit_test(test_idle),
        cmocka_unit_test(test_unsound), cmocka_unit_test(test_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
