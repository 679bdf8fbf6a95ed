/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_deque - the two ends of a worker's queue, growing, and that each item is taken exactly once
 * while the owner and thieves race for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tasks/deque.h"

#define ITEMS 100000
#ifndef STOLEN
#define STOLEN 1000000
#endif
#define THIEVES 3
#define BURST 7 /* items that the owner pushes before it pops some */

static int things[ITEMS];
static _Atomic int taken[ITEMS];
static struct deque shared;
static atomic_bool ended;
static _Atomic int stolen;

static void test_ends(void **state)
{
    struct deque deque;
    int64_t left;
    void *item;

    (void)state;
    assert_int_equal(deque_begin(&deque, 4), 0);
    assert_null(deque_pop(&deque, &left));
    assert_int_equal(left, 0);
    assert_int_equal(deque_steal(&deque, &item), DEQUE_EMPTY);
    for (int i = 0; i < 3; i++)
        assert_int_equal(deque_push(&deque, &things[i]), i + 1);
    assert_int_equal(deque_steal(&deque, &item), DEQUE_TAKEN);
    assert_ptr_equal(item, &things[0]);
    assert_int_equal(deque_size(&deque), 2);
    assert_ptr_equal(deque_pop(&deque, &left), &things[2]);
    assert_int_equal(left, 1);
    assert_ptr_equal(deque_pop(&deque, &left), &things[1]);
    assert_int_equal(left, 0);
    assert_null(deque_pop(&deque, &left));
    assert_int_equal(deque_steal(&deque, &item), DEQUE_EMPTY);
    deque_end(&deque);
}

/* Items stay in their order when the array is replaced, also when it begins in its middle. */
static void test_grows(void **state)
{
    struct deque deque;
    int64_t left;
    void *item;

    (void)state;
    assert_int_equal(deque_begin(&deque, 4), 0);
    for (int i = 0; i < 3; i++) {
        deque_push(&deque, &things[i]);
        assert_int_equal(deque_steal(&deque, &item), DEQUE_TAKEN);
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(deque_push(&deque, &things[i]), i + 1);
    for (int i = 0; i < 500; i++) {
        assert_int_equal(deque_steal(&deque, &item), DEQUE_TAKEN);
        assert_ptr_equal(item, &things[i]);
    }
    for (int i = 999; i >= 500; i--)
        assert_ptr_equal(deque_pop(&deque, &left), &things[i]);
    assert_int_equal(deque_size(&deque), 0);
    deque_end(&deque);
}

static void take(void *item)
{
    if (item)
        atomic_fetch_add(&taken[(int *)item - things], 1);
}

static void *steal_all(void *nothing)
{
    void *item;

    while (!atomic_load(&ended))
        if (deque_steal(&shared, &item) == DEQUE_TAKEN) {
            take(item);
            atomic_fetch_add(&stolen, 1);
        } else {
            sched_yield();
        }
    return nothing;
}

/* The owner pushes all items, and pops some of them in between and the rest at the end. */
static void push_all(void)
{
    int64_t left;

    for (int i = 0; i < ITEMS; i++) {
        assert_true(deque_push(&shared, &things[i]) > 0);
        for (int k = 0; i % BURST == 0 && k < i / BURST % BURST; k++)
            take(deque_pop(&shared, &left));
        if (i / 1024 % 2)
            take(deque_pop(&shared, &left)); /* the last one, for which they race */
        if (i % 1024 == 0)
            sched_yield(); /* on few processors, too, thieves come between */
    }
    for (void *item = deque_pop(&shared, &left); item; item = deque_pop(&shared, &left))
        take(item);
}

/* What a thief reads of a slot that is used again meanwhile it does not take. Goes on until thieves
 * have taken many. */
static void test_race(void **state)
{
    pthread_t thief[THIEVES];
    int rounds = 0;

    (void)state;
    assert_int_equal(deque_begin(&shared, 2), 0);
    for (int i = 0; i < THIEVES; i++)
        assert_int_equal(pthread_create(&thief[i], NULL, steal_all, NULL), 0);
    for (; atomic_load(&stolen) < STOLEN; rounds++)
        push_all();
    atomic_store(&ended, true);
    for (int i = 0; i < THIEVES; i++)
        pthread_join(thief[i], NULL);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(taken[i], rounds);
    deque_end(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_grows),
        cmocka_unit_test(test_race),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
