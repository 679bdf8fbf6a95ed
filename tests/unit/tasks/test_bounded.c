/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bounded - who waits runs others' tasks, which wait and run others' again: on stacks as small
 * as the program itself needs them, this has an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "tasks/berth_tasks.h"
#include "tasks/objects.h"
#include "tests/unit/common/thorough.h"

#define STACK_BYTES (128 << 10)
#define ROOM 4096      /* bytes that a task has on its stack */
#define PATIENCE_S 300 /* then a pool that waits for ever is ended: the test fails */

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
static _Alignas(4096) char object[64][4096];

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
    check_spread(spread, thorough() ? 10 : 2);
}

static void test_spread_over_domains(void **state)
{
    (void)state;
    assert_int_equal(setenv("BERTH_TASKS_NODES", "0-1|2-3|4-5", 1), 0);
    check_spread(spread_over_domains, thorough() ? 50 : 4);
}

/* ---- two that wait deep for what the other one has ---- */

#define SIDES 2

/* The tasks of one worker, and what they use: an object of its domain, and of the other's. */
struct side {
    struct berth_task_object here, there;
    struct berth_task_group *deep, *shallow; /* that its first task waits for */
    _Atomic bool is_set_up, has_child, has_lent;
};

static struct side side[SIDES];

/* Waits for the other side to be as far. flag: its offset in a side. */
static void meet(unsigned number, size_t flag)
{
    atomic_store((_Atomic bool *)((char *)&side[number] + flag), true);
    while (!atomic_load((_Atomic bool *)((char *)&side[1 - number] + flag)))
        sched_yield();
}

static void count_one(const void *nothing)
{
    (void)nothing;
    atomic_fetch_add(&done, 1);
}

/* Runs in the worker of the other side, within its shallow wait. Each of the two has a child in the
 * list of the other, behind that one's shallow task: when both children have ended both shallow
 * waits are over, and what is created now stays on the queue of this worker. */
static void lend(const void *arguments)
{
    unsigned number = *(const unsigned *)arguments;

    berth_task_on_all(&side[number].here, 1, count_one, NULL, 0);
    meet(number, offsetof(struct side, has_child));
    berth_task_wait();
    meet(number, offsetof(struct side, has_lent));
    berth_task(count_one, NULL, 0);
}

/* Not in the frame of who calls, which waits above. */
__attribute__((noinline)) static void wait_deep(struct berth_task_group *group)
{
    volatile char room[STACK_BYTES / 2];

    room[0] = 1;
    berth_task_group_wait(group);
    atomic_fetch_add(&done, (unsigned)room[0]);
}

static void wait_for_other(const void *arguments)
{
    unsigned number = *(const unsigned *)arguments;
    struct side *mine = &side[number];

    mine->deep = berth_task_group_new(NULL);
    mine->shallow = berth_task_group_new(NULL);
    berth_task_group_add(mine->deep, &mine->there, 1, lend, &number, sizeof(number));
    berth_task_group_add(mine->shallow, &mine->there, 1, count_one, NULL, 0);
    meet(number, offsetof(struct side, is_set_up));
    berth_task_group_wait(mine->shallow);
    wait_deep(mine->deep);
    berth_task_group_free(mine->deep);
    berth_task_group_free(mine->shallow);
}

/* Finds an object of each domain. */
static void set_objects(struct berth_tasks *pool)
{
    int domain = 0;

    for (unsigned i = 0; i < 64; i++) {
        struct berth_task_object one = {object[i], sizeof(object[i])};

        domain = objects_domain(pool, NULL, &one, 1);
        assert_in_range(domain, 0, SIDES - 1);
        side[domain].here = side[1 - domain].there = one;
    }
    for (unsigned i = 0; i < SIDES; i++)
        assert_non_null(side[i].here.address);
}

/* What a worker may not run, because its stack is deep and it waits for something else, is what
 * the other worker waits for, and the other way round: each finds its own. */
static void test_crosswise(void **state)
{
    struct berth_tasks *pool;
    struct berth_task_group *both;

    (void)state;
    assert_int_equal(setenv("BERTH_TASKS_NODES", "0|1", 1), 0);
    pool = start_small(SIDES);
    set_objects(pool);
    both = berth_task_group_new(pool);
    for (unsigned i = 0; i < SIDES; i++)
        berth_task_group_add(both, &side[i].here, 1, wait_for_other, &i, sizeof(i));
    assert_int_equal(berth_task_group_free(both), 0);
    assert_int_equal(done, SIDES * 4);
    berth_tasks_stop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crosswise),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_spread_over_domains),
    };

    alarm(thorough() ? 4 * PATIENCE_S : PATIENCE_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
