/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bounded - who waits runs others' tasks, which wait and run others' again: on stacks as small
 * as the program itself needs them, this has an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tasks/berth_tasks.h"

#define STACK_BYTES (128 << 10)
#define ROOM 4096 /* bytes that a task has on its stack */

static _Atomic unsigned done;

static void go_down(const void *arguments)
{
    unsigned depth = *(const unsigned *)arguments;

    if (depth--) {
        berth_task(go_down, &depth, sizeof(depth));
        berth_task_wait();
    }
    atomic_fetch_add(&done, 1);
}

/* Waits at each level, so that waiting tasks take up others which wait. */
static void spread(const void *arguments)
{
    unsigned depth = *(const unsigned *)arguments;
    volatile char room[ROOM];

    room[0] = (char)depth;
    for (int twice = 0; depth && twice < 2; twice++) {
        unsigned less = depth - 1;

        berth_task(spread, &less, sizeof(less));
        berth_task(spread, &less, sizeof(less));
        berth_task_wait();
    }
    atomic_fetch_add(&done, (unsigned)(room[0] == (char)depth));
}

/* The same, created by way of lists of domains. */
static char object[64][4096];

static void spread_over_domains(const void *arguments)
{
    unsigned depth = *(const unsigned *)arguments;
    volatile char room[ROOM];

    room[0] = (char)depth;
    for (unsigned i = 0; depth && i < 4; i++) {
        unsigned less = depth - 1;

        berth_task_on(object[(depth * 4 + i) % 64], sizeof(object[0]), spread_over_domains, &less,
                      sizeof(less));
        if (i % 2)
            berth_task_wait();
    }
    atomic_fetch_add(&done, (unsigned)(room[0] == (char)depth));
}

static struct berth_tasks *start_small(uint32_t workers)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = workers};
    struct berth_tasks *pool;
    pthread_attr_t attributes;

    assert_int_equal(pthread_getattr_default_np(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK_BYTES), 0);
    assert_int_equal(pthread_setattr_default_np(&attributes), 0);
    pthread_attr_destroy(&attributes);
    pool = berth_tasks_start(&options);
    assert_non_null(pool);
    atomic_store(&done, 0);
    return pool;
}

static void test_chain(void **state)
{
    struct berth_tasks *pool = start_small(4);
    unsigned depth = 100;

    (void)state;
    berth_tasks_run(pool, go_down, &depth, sizeof(depth));
    assert_int_equal(done, depth + 1);
    berth_tasks_stop(pool);
}

static void check_spread(berth_task_function *function, unsigned rounds)
{
    struct berth_tasks *pool = start_small(16);
    unsigned levels = 7, nodes = 0;

    for (unsigned i = 0, width = 1; i <= levels; i++, width *= 4)
        nodes += width;
    for (unsigned round = 1; round <= rounds; round++) {
        berth_tasks_run(pool, function, &levels, sizeof(levels));
        assert_int_equal(done, round * nodes);
    }
    berth_tasks_stop(pool);
}

static void test_spread(void **state)
{
    (void)state;
    check_spread(spread, 10);
}

static void test_spread_over_domains(void **state)
{
    (void)state;
    assert_int_equal(setenv("BERTH_TASKS_NODES", "0-1|2-3|4-5", 1), 0);
    check_spread(spread_over_domains, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_spread_over_domains),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
