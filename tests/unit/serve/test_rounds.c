/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_rounds - in which order those are served that wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packer/serve/rounds.h"

#define PLACES 8

struct waiting {
    struct rounds rounds;
    struct rounds_place place[PLACES];
    int name[PLACES];
};

static void join(struct waiting *w, int name, uid_t uid)
{
    w->name[name] = name;
    rounds_join(&w->rounds, &w->place[name], &w->name[name], uid);
}

static int next(struct waiting *w)
{
    int *who = rounds_next(&w->rounds);

    return who ? *who : -1;
}

/* 0 to 3 are one user's, 4 and 5 another's, who has come later. */
static void test_one_of_each(void **state)
{
    static const int order[] = {0, 4, 1, 5, 2, 3, -1};
    struct waiting w = {0};

    (void)state;
    rounds_init(&w.rounds);
    for (int i = 0; i < 6; i++)
        join(&w, i, i < 4 ? 1001 : 1002);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        assert_int_equal(next(&w), order[i]);
}

/* Who comes when the others wait already has his turn in the round that is under way. */
static void test_late_comer(void **state)
{
    struct waiting w = {0};

    (void)state;
    rounds_init(&w.rounds);
    for (int i = 0; i < 4; i++)
        join(&w, i, 1001);
    assert_int_equal(next(&w), 0);
    assert_int_equal(next(&w), 1);
    join(&w, 4, 1002);
    assert_int_equal(next(&w), 4);
    assert_int_equal(next(&w), 2);
}

/* Who waits is not counted twice, and who has left has no turn. */
static void test_leaves(void **state)
{
    struct waiting w = {0};

    (void)state;
    rounds_init(&w.rounds);
    join(&w, 0, 1001);
    join(&w, 0, 1001);
    join(&w, 1, 1001);
    rounds_leave(&w.rounds, &w.place[0]);
    rounds_leave(&w.rounds, &w.place[0]);
    assert_int_equal(next(&w), 1);
    assert_int_equal(next(&w), -1);
    join(&w, 0, 1001);
    assert_int_equal(next(&w), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_of_each),
        cmocka_unit_test(test_late_comer),
        cmocka_unit_test(test_leaves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
