/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_barrier - nobody passes a barrier before all have come, one of them is told so, and a round
 * costs no more than one operation a domain on what all share; whatever domains the threads come
 * from, however many come, and when it ends at once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "runtime/barrier.h"
#include "runtime/lines.h"
#include "runtime/nodes.h"
#include "runtime/rt.h"

#define THREADS 12
#define ROUNDS 2000

void *__real_lines_take(unsigned domain, enum lines_kind kind);
void *__wrap_lines_take(unsigned domain, enum lines_kind kind);

static _Atomic int pieces_left =
    -1; /* that lines_take gives before it fails; less than 0: always */

static struct {
    struct barrier *barrier, *next;
    uint32_t threads, rounds;
    _Atomic uint32_t came[THREADS], begun, told, early;
} scene;

const struct rt_page *rt_page(enum rt_feature feature)
{
    (void)feature;
    return NULL;
}

void *__wrap_lines_take(unsigned domain, enum lines_kind kind)
{
    if (pieces_left == 0)
        return NULL;
    if (pieces_left > 0)
        pieces_left--;
    return __real_lines_take(domain, kind);
}

/* Between two rounds every thread has come to this one, and none to more than the next. */
static void *go_round(void *came)
{
    _Atomic uint32_t *mine = came;

    for (uint32_t round = 1; round <= scene.rounds; round++) {
        atomic_store(mine, round);
        scene.told += barrier_wait(scene.barrier);
        for (uint32_t i = 0; i < scene.threads; i++)
            if (scene.came[i] < round || scene.came[i] > round + 1)
                scene.early++;
    }
    return NULL;
}

static void run(void *(*what)(void *), uint32_t threads)
{
    pthread_t thread[THREADS];

    for (uint32_t i = 0; i < threads; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, what, &scene.came[i]), 0);
    for (uint32_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

static void begin(const char *nodes, uint32_t threads)
{
    assert_int_equal(nodes_play(nodes), 0);
    memset(&scene, 0, sizeof(scene));
    scene.threads = threads;
    scene.rounds = ROUNDS;
    scene.barrier = barrier_make(threads);
    assert_non_null(scene.barrier);
}

static struct barrier_counts end(void)
{
    struct barrier_counts counts;

    assert_int_equal(scene.early, 0);
    assert_int_equal(scene.told, scene.rounds);
    barrier_count(scene.barrier, &counts);
    assert_int_equal(counts.rounds, scene.rounds);
    barrier_end(scene.barrier);
    return counts;
}

static void a_round_costs_an_operation_a_domain(void **state)
{
    static const char *const nodes[] = {"*1", "*2", "*3", "*4", "*12"};
    static const unsigned domains[] = {1, 2, 3, 4, 12};
    struct barrier_counts counts;

    (void)state;
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        begin(nodes[i], THREADS);
        run(go_round, THREADS);
        counts = end();
        assert_in_range(counts.global, ROUNDS, (uint64_t)ROUNDS * domains[i]);
        assert_in_range(counts.guests, 0, THREADS); /* of the first round */
    }
}

static void threads_may_come_from_another_domain_each_time(void **state)
{
    static const char *const nodes[] = {"~2", "~3", "~7", "~32"};
    struct barrier_counts counts;

    (void)state;
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        begin(nodes[i], THREADS);
        run(go_round, THREADS);
        counts = end();
        assert_true(counts.global <= (uint64_t)ROUNDS * NODES_MAX);
        assert_true(counts.guests > 0);
    }
}

static void *come(void *unused)
{
    (void)unused;
    while (atomic_fetch_add(&scene.begun, 1) < scene.rounds * scene.threads)
        scene.told += barrier_wait(scene.barrier);
    return NULL;
}

/* Three threads for each place: each round is of whoever came. */
static void more_threads_than_a_round_needs_may_come(void **state)
{
    static const char *const nodes[] = {"*1", "*3", "~5"};

    (void)state;
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        begin(nodes[i], THREADS / 3);
        run(come, THREADS);
        end();
    }
}

/* What is made next has the same memory. */
static void *come_once(void *unused)
{
    (void)unused;
    if (barrier_wait(scene.barrier)) {
        scene.told++;
        barrier_end(scene.barrier);
        scene.next = barrier_make(scene.threads);
    }
    return NULL;
}

/* The others may still be on their way out, or asleep. */
static void it_may_end_while_others_leave(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ROUNDS / 10; i++) {
        begin(i % 2 ? "*4" : "~3", 4);
        run(come_once, 4);
        assert_int_equal(scene.told, 1);
        assert_non_null(scene.next);
        barrier_end(scene.next);
    }
}

/* The memory of one that has ended is used again. */
static void many_may_be_made_one_after_the_other(void **state)
{
    struct barrier *first, *other;

    (void)state;
    assert_int_equal(nodes_play("*1"), 0);
    first = barrier_make(1);
    assert_true(barrier_wait(first));
    barrier_end(first);
    other = barrier_make(1);
    assert_ptr_equal(first, other);
    assert_true(barrier_wait(other));
    assert_true(barrier_wait(other));
    barrier_end(other);
}

static void without_memory_there_is_none(void **state)
{
    (void)state;
    for (pieces_left = 0; pieces_left < 2;) {
        int pieces = pieces_left;

        assert_null(barrier_make(2));
        pieces_left = pieces + 1;
    }
    pieces_left = -1;
}

static void a_domain_without_memory_is_a_guest_elsewhere(void **state)
{
    (void)state;
    pieces_left = 3; /* the barrier, its first slot, and one */
    begin("*4", THREADS);
    run(go_round, THREADS);
    pieces_left = -1;
    assert_true(end().global <= 2 * ROUNDS);
}

/* test_barrier [PATTERN]: the tests with such a name. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_costs_an_operation_a_domain),
        cmocka_unit_test(threads_may_come_from_another_domain_each_time),
        cmocka_unit_test(more_threads_than_a_round_needs_may_come),
        cmocka_unit_test(it_may_end_while_others_leave),
        cmocka_unit_test(many_may_be_made_one_after_the_other),
        cmocka_unit_test(without_memory_there_is_none),
        cmocka_unit_test(a_domain_without_memory_is_a_guest_elsewhere),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
