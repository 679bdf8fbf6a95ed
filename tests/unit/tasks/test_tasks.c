/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_tasks - what berth_tasks.h promises, a promise a test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tasks/berth_tasks.h"

#define MANY 5000

static _Atomic unsigned done;

static struct berth_tasks *start(uint32_t workers)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = workers};
    struct berth_tasks *pool = berth_tasks_start(&options);

    assert_non_null(pool);
    atomic_store(&done, 0);
    return pool;
}

static void add_one(const void *nothing)
{
    (void)nothing;
    atomic_fetch_add(&done, 1);
}

/* ---- pools ---- */

static void test_nothing_to_do(void **state)
{
    (void)state;
    assert_int_equal(berth_tasks_stop(NULL), 0);
    for (uint32_t workers = 0; workers < 4; workers++)
        assert_int_equal(berth_tasks_stop(start(workers)), 0);
}

static void test_options(void **state)
{
    struct berth_tasks_options wrong[] = {
        {.size = 1},
        {.size = sizeof(wrong[0]), .workers = BERTH_TASKS_WORKERS_MAX + 1},
        {.size = sizeof(wrong[0]), .stealing = (enum berth_tasks_stealing)99},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        errno = 0;
        assert_null(berth_tasks_start(&wrong[i]));
        assert_int_equal(errno, EINVAL);
    }
}

/* ---- no pool ---- */

static void test_no_pool(void **state)
{
    (void)state;
    atomic_store(&done, 0);
    berth_task(add_one, NULL, 0);
    berth_task_on(&done, sizeof(done), add_one, NULL, 0);
    assert_int_equal(done, 2);
    berth_task_wait();
    assert_int_equal(berth_task_domain(), -1);
    assert_int_equal(berth_task_worker(), -1);
    assert_null(berth_task_group_new(NULL));
    assert_int_equal(errno, EINVAL);
}

/* ---- arguments ---- */

struct letters {
    size_t n;
    char letter[300];
};

/* What was given is there, aligned, though the creator has changed it since. */
static void check_letters(const void *arguments)
{
    const struct letters *letters = arguments;

    for (size_t i = 0; i < letters->n; i++)
        if (letters->letter[i] != (char)('a' + i % 26) || (uintptr_t)arguments % 16)
            return;
    atomic_fetch_add(&done, 1);
}

static void create_letters(const void *nothing)
{
    struct letters letters;

    (void)nothing;
    for (size_t n = 0; n < sizeof(letters.letter); n++) {
        letters.n = n;
        for (size_t i = 0; i < n; i++)
            letters.letter[i] = (char)('a' + i % 26);
        berth_task(check_letters, &letters, offsetof(struct letters, letter) + n);
        memset(&letters, 0, sizeof(letters));
    }
}

static void test_arguments(void **state)
{
    struct berth_tasks *pool = start(3);

    (void)state;
    berth_tasks_run(pool, create_letters, NULL, 0);
    assert_int_equal(done, sizeof(((struct letters *)NULL)->letter));
    berth_tasks_stop(pool);
}

/* ---- a run is over when all that it has created is ---- */

static void create_late(const void *arguments)
{
    unsigned depth = *(const unsigned *)arguments;

    if (depth--) {
        berth_task(create_late, &depth, sizeof(depth));
        berth_task(create_late, &depth, sizeof(depth));
    }
    atomic_fetch_add(&done, 1);
}

static void test_run_waits(void **state)
{
    struct berth_tasks *pool = start(4);
    unsigned depth = 9;

    (void)state;
    for (unsigned i = 1; i <= 20; i++) {
        berth_tasks_run(pool, create_late, &depth, sizeof(depth));
        assert_int_equal(done, i * ((1u << (depth + 1)) - 1));
    }
    berth_tasks_stop(pool);
}

/* A queue that is full of tasks takes no more: what comes then runs at once. */
static void create_many(const void *nothing)
{
    (void)nothing;
    for (unsigned i = 0; i < MANY; i++)
        berth_task(add_one, NULL, 0);
}

static void test_many(void **state)
{
    struct berth_tasks *pool = start(1);
    struct berth_tasks_counts counts;

    (void)state;
    berth_tasks_run(pool, create_many, NULL, 0);
    assert_int_equal(done, MANY);
    berth_tasks_counts(pool, &counts);
    assert_int_equal(counts.run, MANY + 1);
    assert_int_equal(counts.steals, 0);
    berth_tasks_stop(pool);
}

/* ---- waiting: who waits runs others ---- */

static void set_flag(const void *arguments)
{
    atomic_store(*(_Atomic int *const *)arguments, 1);
}

/* With one worker each of these can end only if the one that waits runs the other. */
static void wait_for_flag(const void *nothing)
{
    _Atomic int flag = 0, *at = &flag;

    (void)nothing;
    berth_task(set_flag, &at, sizeof(at));
    berth_task_wait();
    if (flag)
        atomic_fetch_add(&done, 1);
}

static void test_joiner_helps(void **state)
{
    struct berth_tasks *pool = start(1);

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        berth_tasks_run(pool, wait_for_flag, NULL, 0);
    assert_int_equal(done, 100);
    berth_tasks_stop(pool);
}

/* ---- groups ---- */

static struct berth_task_group *outer;
static _Atomic int refused, freed;

static void try_to_wait(const void *nothing)
{
    (void)nothing;
    refused = berth_task_group_wait(outer) == -1 && errno == EDEADLK;
}

static void add_to_outer(const void *nothing)
{
    (void)nothing;
    for (unsigned i = 0; i < 10; i++)
        berth_task_group_add(outer, NULL, 0, add_one, NULL, 0);
}

/* A group that was made outside is filled from there and from within. */
static void test_group_outside(void **state)
{
    struct berth_tasks *pool = start(3);

    (void)state;
    outer = berth_task_group_new(pool);
    assert_int_equal(berth_task_group_wait(outer), 0);
    for (unsigned round = 1; round <= 20; round++) {
        for (unsigned i = 0; i < 10; i++)
            berth_task_group_add(outer, NULL, 0, add_to_outer, NULL, 0);
        assert_int_equal(berth_task_group_wait(outer), 0);
        assert_int_equal(done, round * 100);
    }
    berth_tasks_run(pool, try_to_wait, NULL, 0);
    assert_true(refused);
    assert_int_equal(berth_task_group_free(outer), 0);
    assert_int_equal(berth_task_group_free(NULL), 0);
    berth_tasks_stop(pool);
}

static void make_group(const void *nothing)
{
    (void)nothing;
    outer = berth_task_group_new(NULL);
    berth_task(try_to_wait, NULL, 0);
    berth_task_wait();
    for (unsigned i = 0; i < 10; i++)
        berth_task_group_add(outer, NULL, 0, add_to_outer, NULL, 0);
    freed = berth_task_group_free(outer) == 0 && done == 100;
}

/* One that was made in a task is waited for there and nowhere else. */
static void test_group_inside(void **state)
{
    struct berth_tasks *pool = start(3);

    (void)state;
    refused = 0;
    berth_tasks_run(pool, make_group, NULL, 0);
    assert_true(refused);
    assert_true(freed);
    berth_tasks_stop(pool);
}

/* ---- stopping ---- */

/* Tasks that nobody waits for have run when the pool has stopped, and their group can still be
 * used: what is added to it then runs at once. */
static void test_stop_with_pending(void **state)
{
    struct berth_tasks *pool = start(2);
    struct berth_task_group *group = berth_task_group_new(pool);
    unsigned depth = 3;

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        berth_task_group_add(group, NULL, 0, create_late, &depth, sizeof(depth));
    assert_int_equal(berth_tasks_stop(pool), 0);
    assert_int_equal(done, 100 * 15);
    berth_task_group_add(group, NULL, 0, add_one, NULL, 0);
    assert_int_equal(done, 100 * 15 + 1);
    assert_int_equal(berth_task_group_free(group), 0);
}

static void stop_own(const void *arguments)
{
    refused = berth_tasks_stop(*(struct berth_tasks *const *)arguments) == -1 && errno == EDEADLK;
}

static void test_stop_inside(void **state)
{
    struct berth_tasks *pool = start(2);

    (void)state;
    refused = 0;
    berth_tasks_run(pool, stop_own, &pool, sizeof(pool));
    assert_true(refused);
    assert_int_equal(berth_tasks_stop(pool), 0);
}

/* ---- several threads, several pools ---- */

static void *run_from_outside(void *pool)
{
    unsigned depth = 5;

    for (int i = 0; i < 20; i++)
        berth_tasks_run(pool, create_late, &depth, sizeof(depth));
    return NULL;
}

static void test_threads_outside(void **state)
{
    struct berth_tasks *pool = start(2);
    pthread_t thread[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_from_outside, pool), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(done, 4 * 20 * 63);
    berth_tasks_stop(pool);
}

static void run_in_other(const void *arguments)
{
    run_from_outside(*(struct berth_tasks *const *)arguments);
}

static void test_two_pools(void **state)
{
    struct berth_tasks *one = start(2), *other = start(2);

    (void)state;
    berth_tasks_run(one, run_in_other, &other, sizeof(other));
    berth_tasks_run(one, run_in_other, &one, sizeof(one));
    assert_int_equal(done, 2 * 20 * 63);
    berth_tasks_stop(other);
    berth_tasks_stop(one);
}

/* ---- workers ---- */

static void look_at_signals(const void *nothing)
{
    sigset_t blocked;

    (void)nothing;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    if (sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGUSR1))
        atomic_fetch_add(&done, 1);
}

static void test_signals(void **state)
{
    struct berth_tasks *pool = start(2);
    sigset_t blocked;

    (void)state;
    berth_tasks_run(pool, look_at_signals, NULL, 0);
    assert_int_equal(done, 1);
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGTERM));
    berth_tasks_stop(pool);
}

/* ---- dealing ---- */

#define FLAT 4000
#define FLAT_TRIES 20

static void spin(const void *nothing)
{
    for (volatile unsigned i = 0; i < 10000; i++)
        ;
    add_one(nothing);
}

static void create_flat(const void *nothing)
{
    for (unsigned i = 0; i < FLAT; i++)
        berth_task(spin, NULL, 0);
    berth_task_wait();
    (void)nothing;
}

/* What part of the stolen tasks come from another domain, of so many workers in two of them. */
static double remote_share(uint32_t workers)
{
    struct berth_tasks *pool = start(workers);
    struct berth_tasks_counts counts;

    assert_int_equal(berth_tasks_domains(pool), 2);
    berth_tasks_run(pool, create_flat, NULL, 0);
    assert_int_equal(done, FLAT);
    berth_tasks_counts(pool, &counts);
    berth_tasks_stop(pool);
    return counts.steals ? (double)counts.remote / (double)counts.steals : 0;
}

/* Tasks without an object are dealt to both domains: each has its own to do. Where a domain's
 * workers are kept from their CPUs the others take theirs, so that some tries may show more. */
static void test_dealt(void **state)
{
    static const uint32_t workers[] = {4, 12};

    (void)state;
    setenv("BERTH_TASKS_NODES", "0|1", 1);
    for (size_t i = 0; i < 2; i++) {
        double least = 1;

        for (unsigned k = 0; k < FLAT_TRIES && least >= 0.05; k++) {
            double share = remote_share(workers[i]);

            least = share < least ? share : least;
        }
        assert_true(least < 0.05);
    }
    unsetenv("BERTH_TASKS_NODES");
}

/* The tasks that ran in another domain than their creator's, by number. */
#define ROW_OF 9
static _Atomic unsigned ran_away[ROW_OF];
static int creator_domain;

static void note_where(const void *arguments)
{
    unsigned number = *(const unsigned *)arguments;

    if (berth_task_domain() != creator_domain)
        atomic_store(&ran_away[number], atomic_fetch_add(&done, 1) + 1);
}

/* Of a short queue the oldest goes, and its creator still has the others. */
static void create_row(const void *nothing)
{
    (void)nothing;
    creator_domain = berth_task_domain();
    for (unsigned i = 0; i < ROW_OF; i++)
        berth_task(note_where, &i, sizeof(i));
    berth_task_wait();
}

/* Says whether a task was dealt; then it was the first that was created. */
static bool is_oldest_dealt(void)
{
    struct berth_tasks *pool = start(2);
    struct berth_tasks_counts counts;

    for (unsigned i = 0; i < ROW_OF; i++)
        atomic_store(&ran_away[i], 0);
    berth_tasks_run(pool, create_row, NULL, 0);
    berth_tasks_counts(pool, &counts);
    berth_tasks_stop(pool);
    if (counts.dealt == 0 || counts.remote || atomic_load(&done) == 0)
        return false;
    assert_int_equal(ran_away[0], 1);
    return true;
}

/* Where the worker of the other domain comes first it takes a task itself: then it is tried anew.
 */
static void test_oldest_dealt(void **state)
{
    bool dealt = false;

    (void)state;
    setenv("BERTH_TASKS_NODES", "0|1", 1);
    for (unsigned k = 0; k < 500 && !dealt; k++)
        dealt = is_oldest_dealt();
    assert_true(dealt);
    unsetenv("BERTH_TASKS_NODES");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_do), cmocka_unit_test(test_options),
        cmocka_unit_test(test_no_pool),       cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_run_waits),     cmocka_unit_test(test_many),
        cmocka_unit_test(test_joiner_helps),  cmocka_unit_test(test_group_outside),
        cmocka_unit_test(test_group_inside),  cmocka_unit_test(test_stop_with_pending),
        cmocka_unit_test(test_stop_inside),   cmocka_unit_test(test_threads_outside),
        cmocka_unit_test(test_two_pools),     cmocka_unit_test(test_signals),
        cmocka_unit_test(test_dealt),         cmocka_unit_test(test_oldest_dealt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
