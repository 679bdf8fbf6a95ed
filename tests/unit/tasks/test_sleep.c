/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_sleep - a task that comes in the moment in which the only worker has looked everywhere, and
 * before it has said that it sleeps, is not slept over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "tasks/berth_tasks.h"

#define ROUNDS 200
#define LOCKS 3
#define PATIENCE_S 120 /* then somebody sleeps for ever: the test is ended */

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

static struct berth_task_group *group;
static sem_t wanted, added;
static _Atomic int locks_left; /* of the worker, until a task comes */
static atomic_bool ended;
static _Atomic unsigned done;

static void add_one(const void *nothing)
{
    (void)nothing;
    atomic_fetch_add(&done, 1);
}

/* A worker locks its domain to take a task, the pool to tell of its end, and its domain again to
 * enter the list of sleepers: before it can, a task comes. */
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (berth_task_worker() >= 0 && atomic_fetch_sub(&locks_left, 1) == 1) {
        sem_post(&wanted);
        sem_wait(&added);
    }
    return __real_pthread_mutex_lock(mutex);
}

static void *add_when_wanted(void *nothing)
{
    while (sem_wait(&wanted) == 0 && !atomic_load(&ended)) {
        berth_task_group_add(group, NULL, 0, add_one, NULL, 0);
        sem_post(&added);
    }
    return nothing;
}

static void test_not_slept_over(void **state)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = 1};
    struct berth_tasks *pool = berth_tasks_start(&options);
    pthread_t adder;

    (void)state;
    group = berth_task_group_new(pool);
    sem_init(&wanted, 0, 0);
    sem_init(&added, 0, 0);
    assert_int_equal(pthread_create(&adder, NULL, add_when_wanted, NULL), 0);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        atomic_store(&locks_left, LOCKS);
        berth_tasks_run(pool, add_one, NULL, 0); /* then the worker goes to sleep */
        while (atomic_load(&done) < 2 * i)
            usleep(100);
    }
    atomic_store(&ended, true);
    sem_post(&wanted);
    pthread_join(adder, NULL);
    assert_int_equal(berth_task_group_free(group), 0);
    assert_int_equal(berth_tasks_stop(pool), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_not_slept_over)};

    alarm(PATIENCE_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
