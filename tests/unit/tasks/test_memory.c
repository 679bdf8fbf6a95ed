/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_memory - every call for memory fails once, and then all of them: a pool either does not
 * start or does all its tasks; and what tasks gave back is used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "tasks/berth_tasks.h"
#include "tasks/objects.h"

#define LARGE 500 /* bytes of arguments that need memory of their own */
#define TASKS 1000
#define MANY 300000 /* more than wait anywhere */
#define OBJECTS 64

void *__real_malloc(size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);

static _Atomic long calls;      /* since counting began */
static _Atomic long fails = -1; /* which one fails, and with `forever` all after it; -1: none */
static atomic_bool forever;
static _Atomic unsigned done, started;
static atomic_bool go;
static struct berth_tasks *busy;
static long inside; /* calls of create_for_other() */
static _Alignas(4096) char object[OBJECTS + 1][4096];

static bool is_to_fail(void)
{
    long call = atomic_fetch_add(&calls, 1), which = atomic_load(&fails);

    return which >= 0 && (call == which || (call > which && atomic_load(&forever)));
}

void *__wrap_malloc(size_t size)
{
    errno = ENOMEM;
    return is_to_fail() ? NULL : __real_malloc(size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    errno = ENOMEM;
    return is_to_fail() ? NULL : __real_aligned_alloc(alignment, size);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    errno = ENOMEM;
    return is_to_fail() ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
}

static void count_arguments(const void *arguments)
{
    const unsigned char *byte = arguments;

    for (size_t i = 0; i < LARGE; i++)
        if (byte[i] != i % 251)
            return;
    atomic_fetch_add(&done, 1);
}

static void create(const void *nothing)
{
    unsigned char arguments[LARGE];

    (void)nothing;
    for (size_t i = 0; i < LARGE; i++)
        arguments[i] = (unsigned char)(i % 251);
    for (int i = 0; i < TASKS; i++)
        berth_task(count_arguments, arguments, sizeof(arguments));
    berth_task_wait();
}

/* Says whether the pool started; then it has done all. */
static bool runs(void)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = 2};
    struct berth_tasks *pool = berth_tasks_start(&options);

    if (!pool) {
        assert_int_equal(errno, ENOMEM);
        return false;
    }
    atomic_store(&done, 0);
    berth_tasks_run(pool, create, NULL, 0);
    assert_int_equal(done, TASKS);
    assert_int_equal(berth_tasks_stop(pool), 0);
    return true;
}

static void check_failures(bool all_after)
{
    unsigned refused = 0, served = 0;

    atomic_store(&forever, all_after);
    for (long which = 0; which < 60; which++) {
        atomic_store(&calls, 0);
        atomic_store(&fails, which);
        if (runs())
            served++;
        else
            refused++;
    }
    atomic_store(&fails, -1);
    assert_true(refused > 0);
    assert_true(served > 0);
}

static void test_one_fails(void **state)
{
    (void)state;
    check_failures(false);
}

static void test_all_fail_from(void **state)
{
    (void)state;
    check_failures(true);
}

/* ---- memory that is given back ---- */

static void nothing_to_do(const void *nothing)
{
    (void)nothing;
}

static void create_small(const void *nothing)
{
    (void)nothing;
    for (int i = 0; i < TASKS; i++)
        berth_task(nothing_to_do, NULL, 0);
    berth_task_wait();
}

/* One worker creates, others end the tasks: what they need does not grow from round to round. */
static void test_no_growth(void **state)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = 4};
    struct berth_tasks *pool = berth_tasks_start(&options);

    (void)state;
    assert_non_null(pool);
    for (int i = 0; i < 100; i++)
        berth_tasks_run(pool, create_small, NULL, 0);
    atomic_store(&calls, 0);
    for (int i = 0; i < 1000; i++)
        berth_tasks_run(pool, create_small, NULL, 0);
    /* a task from outside a round, and one slab a worker that had not created before */
    assert_in_range(calls, 1000, 1000 + 4 * 4);
    assert_int_equal(berth_tasks_stop(pool), 0);
}

/* ---- lists that have an end ---- */

static void wait_for_go(const void *nothing)
{
    (void)nothing;
    while (!atomic_load(&go))
        sched_yield();
}

static void count_one(const void *nothing)
{
    (void)nothing;
    atomic_fetch_add(&done, 1);
}

/* Who is outside creates many tasks, of which none can run: not all of them wait in memory. */
static void test_many_from_outside(void **state)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = 1};
    struct berth_tasks *pool = berth_tasks_start(&options);
    struct berth_task_group *group = berth_task_group_new(pool);

    (void)state;
    atomic_store(&done, 0);
    atomic_store(&go, false);
    berth_task_group_add(group, NULL, 0, wait_for_go, NULL, 0);
    atomic_store(&calls, 0);
    for (int i = 0; i < MANY; i++)
        berth_task_group_add(group, NULL, 0, count_one, NULL, 0);
    assert_in_range(calls, 1, MANY / 2);
    atomic_store(&go, true);
    assert_int_equal(berth_task_group_free(group), 0);
    assert_int_equal(done, MANY);
    assert_int_equal(berth_tasks_stop(pool), 0);
}

/* The same from a task, for a domain whose worker is busy. */
static void create_for_other(const void *nothing)
{
    struct berth_task_object one = {object[0], 1};
    int domain = berth_task_domain(), n = 0;

    (void)nothing;
    atomic_fetch_add(&started, 1);
    while (atomic_load(&started) < 2)
        sched_yield(); /* the other one is busy */
    while (n < OBJECTS && objects_domain(busy, NULL, &one, 1) == domain)
        one.address = object[++n];
    atomic_store(&calls, 0);
    for (int i = 0; n < OBJECTS && i < MANY; i++)
        berth_task_on(one.address, one.bytes, count_one, NULL, 0);
    inside = calls;
    atomic_store(&go, true);
}

static void be_busy(const void *nothing)
{
    atomic_fetch_add(&started, 1);
    wait_for_go(nothing);
}

static void test_many_for_other(void **state)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = 2};
    struct berth_task_group *group;

    (void)state;
    assert_int_equal(setenv("BERTH_TASKS_NODES", "0|1", 1), 0);
    busy = berth_tasks_start(&options);
    unsetenv("BERTH_TASKS_NODES");
    group = berth_task_group_new(busy);
    atomic_store(&done, 0);
    atomic_store(&go, false);
    berth_task_group_add(group, NULL, 0, be_busy, NULL, 0);
    berth_task_group_add(group, NULL, 0, create_for_other, NULL, 0);
    assert_int_equal(berth_task_group_free(group), 0);
    assert_int_equal(done, MANY);
    assert_in_range(inside, 1, MANY / 1000 / 2); /* slabs of a thousand tasks */
    assert_int_equal(berth_tasks_stop(busy), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_fails),      cmocka_unit_test(test_all_fail_from),
        cmocka_unit_test(test_no_growth),      cmocka_unit_test(test_many_from_outside),
        cmocka_unit_test(test_many_for_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
