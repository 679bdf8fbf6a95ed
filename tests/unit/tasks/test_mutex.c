/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_mutex - what berth_mutex.h promises. That cohorts are right, and how long anybody waits, is
 * tested with cohorts alone (tests/runtime/test_cohort.sh). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tasks/berth_tasks.h"
#include "tasks/mutex.h"

#define THREADS 8
#ifndef TURNS
#define TURNS 20000
#endif
#define MANY 100
#define FORK_US 200000
#define PATIENCE_S 60 /* then a child that waits is ended: the test fails */

static bool no_memory;
static _Atomic bool slow, made_slowly; /* memory for one takes longer than a fork */
static sem_t making, forked;
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (slow) {
        made_slowly = true;
        sem_post(&making);
        usleep(FORK_US);
    }
    return no_memory ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, file, offset);
}

/* ---- exclusion ---- */

struct shared {
    struct berth_mutex *mutex;
    long sum;
};

static void add(struct shared *shared)
{
    for (int i = 0; i < TURNS; i++) {
        berth_mutex_lock(shared->mutex);
        shared->sum++;
        if (i % 16 == 0)
            sched_yield(); /* others come meanwhile */
        berth_mutex_unlock(shared->mutex);
    }
}

static void *thread_adds(void *shared)
{
    add(shared);
    return NULL;
}

static void task_adds(const void *arguments)
{
    add(*(struct shared *const *)arguments);
}

static void by_threads(struct shared *shared)
{
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, thread_adds, shared), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

static void by_tasks(struct shared *shared)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = THREADS};
    struct berth_tasks *pool = berth_tasks_start(&options);
    struct berth_task_group *group = berth_task_group_new(pool);

    assert_non_null(group);
    for (int i = 0; i < THREADS; i++)
        berth_task_group_add(group, NULL, 0, task_adds, &shared, sizeof(shared));
    berth_task_group_free(group);
    berth_tasks_stop(pool);
}

static void check_sum(void (*run)(struct shared *), unsigned bound)
{
    struct shared shared = {.mutex = berth_mutex_new(bound)};

    assert_non_null(shared.mutex);
    run(&shared);
    assert_int_equal(shared.sum, (long)THREADS * TURNS);
    berth_mutex_free(shared.mutex);
}

static void test_exclusion(void **state)
{
    (void)state;
    check_sum(by_threads, 0); /* they are more than the CPUs, or may be */
    check_sum(by_threads, 64);
    check_sum(by_tasks, 0);
    check_sum(by_tasks, 4);
}

/* The workers stand in two domains, which the mutex goes between less often than within them. */
static void test_domains(void **state)
{
    struct shared shared = {.mutex = berth_mutex_new(64)};
    const struct cohort_counts *counts = &shared.mutex->cohort.counts;

    (void)state;
    by_tasks(&shared);
    assert_true(counts->local > counts->remote);
    assert_true(counts->remote > 0);
    berth_mutex_free(shared.mutex);
}

static void *try(void *mutex)
{
    return (void *)(intptr_t)berth_mutex_trylock(mutex);
}

static intptr_t another_tries(struct berth_mutex *mutex)
{
    pthread_t thread;
    void *result;

    assert_int_equal(pthread_create(&thread, NULL, try, mutex), 0);
    pthread_join(thread, &result);
    return (intptr_t)result;
}

static void test_try(void **state)
{
    struct berth_mutex *mutex = berth_mutex_new(0);

    (void)state;
    errno = 77;
    berth_mutex_lock(mutex);
    assert_int_equal(another_tries(mutex), EBUSY);
    berth_mutex_unlock(mutex);
    assert_int_equal(another_tries(mutex), 0);
    assert_int_equal(berth_mutex_trylock(mutex), EBUSY);
    berth_mutex_unlock(mutex); /* by another thread than has it */
    assert_int_equal(berth_mutex_trylock(mutex), 0);
    berth_mutex_unlock(mutex);
    assert_int_equal(errno, 77);
    berth_mutex_free(mutex);
}

/* ---- making ---- */

static void test_memory_is_used_again(void **state)
{
    struct berth_mutex *mutex[MANY], *again;

    (void)state;
    for (int i = 0; i < MANY; i++) {
        mutex[i] = berth_mutex_new(0);
        assert_non_null(mutex[i]);
        berth_mutex_lock(mutex[i]);
    }
    for (int i = 0; i < MANY; i++) {
        berth_mutex_unlock(mutex[i]);
        berth_mutex_free(mutex[i]);
    }
    no_memory = true;
    again = berth_mutex_new(1);
    assert_non_null(again);
    assert_int_equal(berth_mutex_trylock(again), 0);
    berth_mutex_unlock(again);
    berth_mutex_free(again);
    no_memory = false;
}

static void test_errors(void **state)
{
    struct berth_mutex *taken[4 * MANY], *mutex;
    int n = 0;

    (void)state;
    assert_null(berth_mutex_new(BERTH_MUTEX_BOUND_MAX + 1));
    assert_int_equal(errno, EINVAL);
    no_memory = true;
    while (n < 4 * MANY && (mutex = berth_mutex_new(0)))
        taken[n++] = mutex;
    assert_true(n < 4 * MANY);
    assert_int_equal(errno, ENOMEM);
    no_memory = false;
    while (n > 0)
        berth_mutex_free(taken[--n]);
    berth_mutex_free(NULL);
}

/* ---- fork ---- */

/* Makes mutexes until no memory is left of earlier ones. */
static void *make_all(void *nothing)
{
    struct berth_mutex *made[8 * MANY];
    int n = 0;

    while (n < 8 * MANY && !atomic_load(&made_slowly))
        made[n++] = berth_mutex_new(0);
    sem_wait(&forked); /* or ThreadSanitizer misses it in the child */
    while (n > 0)
        berth_mutex_free(made[--n]);
    return nothing;
}

static int use_in_child(void)
{
    struct berth_mutex *own;

    alarm(PATIENCE_S);
    slow = false;
    own = berth_mutex_new(0);
    if (!own || berth_mutex_trylock(own) != 0)
        return 1;
    berth_mutex_unlock(own);
    berth_mutex_free(own);
    return 0;
}

/* A child that is forked while another thread makes a mutex makes one, too. */
static void test_fork(void **state)
{
    pthread_t maker;
    pid_t child;
    int status = -1;

    (void)state;
    sem_init(&making, 0, 0);
    sem_init(&forked, 0, 0);
    slow = true;
    assert_int_equal(pthread_create(&maker, NULL, make_all, NULL), 0);
    sem_wait(&making);
    child = fork();
    if (child == 0)
        _exit(use_in_child());
    sem_post(&forked);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    pthread_join(maker, NULL);
    slow = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exclusion), cmocka_unit_test(test_domains),
        cmocka_unit_test(test_try),       cmocka_unit_test(test_memory_is_used_again),
        cmocka_unit_test(test_errors),    cmocka_unit_test(test_fork),
    };

    setenv("BERTH_TASKS_NODES", "0-1|2-3", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
