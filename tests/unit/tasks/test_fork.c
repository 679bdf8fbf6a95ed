/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_fork - a child of fork() has none of the pool's workers: tasks run at once, nothing waits
 * for ever, and it can have a pool of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tasks/berth_tasks.h"

#define PATIENCE_S 60 /* then a child that waits is ended: the test fails */

static _Atomic unsigned done;
static struct berth_tasks *pool;
static struct berth_task_group *group;
static _Atomic int status;

static void add_one(const void *nothing)
{
    (void)nothing;
    atomic_fetch_add(&done, 1);
}

static void create_ten(const void *nothing)
{
    (void)nothing;
    for (int i = 0; i < 10; i++)
        berth_task(add_one, NULL, 0);
}

/* What a child can do. Returns the number of the line that was wrong, or 0. */
static int use_in_child(void)
{
    struct berth_tasks *own;

    alarm(PATIENCE_S);
    atomic_store(&done, 0);
    berth_task(add_one, NULL, 0);
    berth_task_wait();
    if (done != 1)
        return __LINE__;
    berth_tasks_run(pool, create_ten, NULL, 0);
    if (done != 11)
        return __LINE__;
    berth_task_group_add(group, NULL, 0, create_ten, NULL, 0);
    if (done != 21)
        return __LINE__;
    if (berth_task_group_wait(group) != -1 || errno != ECANCELED ||
        berth_task_group_free(group) != -1)
        return __LINE__;
    if (berth_tasks_stop(pool) != 0)
        return __LINE__;
    own = berth_tasks_start(NULL);
    if (!own)
        return __LINE__;
    berth_tasks_run(own, create_ten, NULL, 0);
    return berth_tasks_stop(own) == 0 && done == 31 ? 0 : __LINE__;
}

static int status_of_child(void)
{
    pid_t child = fork();
    int how = -1;

    if (child == 0)
        _exit(use_in_child() % 256);
    return waitpid(child, &how, 0) == child ? how : -1;
}

static void setup_pool(void)
{
    pool = berth_tasks_start(NULL);
    assert_non_null(pool);
    group = berth_task_group_new(pool);
    assert_non_null(group);
}

static void end_pool(void)
{
    atomic_store(&done, 0);
    berth_tasks_run(pool, create_ten, NULL, 0); /* the parent's still works */
    assert_int_equal(done, 10);
    assert_int_equal(berth_task_group_free(group), 0);
    assert_int_equal(berth_tasks_stop(pool), 0);
}

static void test_outside(void **state)
{
    (void)state;
    setup_pool();
    assert_int_equal(status_of_child(), 0);
    end_pool();
}

static void fork_in_task(const void *nothing)
{
    (void)nothing;
    create_ten(NULL); /* children that are queued, and that the child of fork() does not wait for */
    status = status_of_child();
}

static void test_in_task(void **state)
{
    (void)state;
    setup_pool();
    status = -1;
    berth_tasks_run(pool, fork_in_task, NULL, 0);
    assert_int_equal(status, 0);
    end_pool();
}

/* ---- tasks that are left ---- */

static jmp_buf outer;

static void leave(const void *nothing)
{
    (void)nothing;
    longjmp(outer, 1);
}

/* Waits for a task that does not return, on the same stack as there is one worker only. */
static void be_jumped_into(const void *nothing)
{
    (void)nothing;
    if (setjmp(outer) == 0) {
        berth_task(leave, NULL, 0);
        berth_task_wait();
    }
}

static void run_left_task(void)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = 1};

    alarm(PATIENCE_S);
    signal(SIGABRT, SIG_DFL);
    berth_tasks_run(berth_tasks_start(&options), be_jumped_into, NULL, 0);
    _exit(0);
}

/* That ends the program, and it does not wait for ever for a task that will not end. */
static void test_left(void **state)
{
    pid_t child = fork();
    int how = -1;

    (void)state;
    if (child == 0)
        run_left_task();
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how));
    assert_int_equal(WTERMSIG(how), SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_in_task),
        cmocka_unit_test(test_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
