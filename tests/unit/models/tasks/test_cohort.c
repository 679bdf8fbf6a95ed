/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_cohort - turns that can be followed by hand, and what lock cohorting promises: most
 * hand-overs within a node, and nobody waits for longer than its bound lets the others go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/tasks/cohort.h"

#define LOCAL_S 15.4e-9 /* of the thesis */
#define REMOTE_S 38.4e-9

static struct cohort_outcome run(struct cohort_lock lock)
{
    struct cohort_outcome outcome;

    cohort_run(&lock, &outcome);
    return outcome;
}

/* Nobody thinks: all ask at once, and again when they have had their turn. */
static void test_by_hand(void **state)
{
    static const unsigned one[] = {1}, two[] = {2, 2};
    struct cohort_outcome alone = run((struct cohort_lock){
        .nodes = 1, .threads = one, .hold_s = 2, .t_local_s = 1, .bound = 4, .turns = 3});
    struct cohort_lock lock = {.nodes = 2,
                               .threads = two,
                               .hold_s = 10,
                               .t_local_s = 1,
                               .t_remote_s = 3,
                               .bound = 2,
                               .turns = 6};
    struct cohort_outcome cohort = run(lock), plain;

    (void)state;
    assert_float_equal(alone.seconds, 3 * 2 + 2, 0);
    assert_int_equal(alone.local, 2);
    /* a b a | c d c: two hand-overs within each node */
    assert_int_equal(cohort.local, 4);
    assert_int_equal(cohort.remote, 1);
    assert_float_equal(cohort.seconds, 6 * 10 + 4 * 1 + 3, 0);
    lock.bound = 0; /* a b c d a b */
    plain = run(lock);
    assert_int_equal(plain.local, 3);
    assert_int_equal(plain.remote, 2);
    assert_float_equal(plain.seconds, 6 * 10 + 3 * 1 + 2 * 3, 0);
}

static struct cohort_lock contended(const unsigned *threads, unsigned bound)
{
    return (struct cohort_lock){.nodes = 2,
                                .threads = threads,
                                .hold_s = 50e-9,
                                .think_s = 100e-9,
                                .t_local_s = LOCAL_S,
                                .t_remote_s = REMOTE_S,
                                .bound = bound,
                                .turns = 200000,
                                .seed = 7};
}

/* 2 x 4 threads contending: more than 90 % of the hand-overs are local, and a lock that knows no
 * nodes has half of them; nobody starves. */
static void test_share(void **state)
{
    static const unsigned threads[] = {4, 4};
    struct cohort_outcome cohort = run(contended(threads, COHORT_BOUND)),
                          plain = run(contended(threads, 0));

    (void)state;
    assert_true((double)cohort.local > 0.9 * (double)(cohort.local + cohort.remote));
    assert_true((double)plain.local < 0.6 * (double)(plain.local + plain.remote));
    assert_true(cohort.seconds < plain.seconds);
    assert_true(cohort.most_turns < 1.05);
}

/* The longest wait is that for the others' bounds: (bound + 1) turns of each node. */
static void test_fair(void **state)
{
    static const unsigned threads[] = {4, 4}, uneven[] = {1, 12};
    static const unsigned bounds[] = {1, 4, 16, 64};

    (void)state;
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        double turn_s = 50e-9 + REMOTE_S, most_s = (bounds[i] + 1) * turn_s * 2;

        if (bounds[i] + 1 >= threads[0])
            assert_true(run(contended(threads, bounds[i])).worst_wait_s <= most_s);
        if (bounds[i] + 1 >= uneven[1])
            assert_true(run(contended(uneven, bounds[i])).worst_wait_s <= most_s);
    }
}

/* Who is seldom contended has nothing to hand over. */
static void test_quiet(void **state)
{
    static const unsigned threads[] = {1, 1};
    struct cohort_lock lock = contended(threads, COHORT_BOUND);
    struct cohort_outcome quiet;

    (void)state;
    lock.think_s = 1;
    lock.turns = 1000;
    quiet = run(lock);
    assert_true(quiet.worst_wait_s <= 50e-9 + REMOTE_S);
    assert_float_equal(quiet.seconds, 500, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_fair),
        cmocka_unit_test(test_quiet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
