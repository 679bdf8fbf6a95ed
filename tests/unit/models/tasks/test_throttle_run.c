/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_throttle_run - runs that can be followed by hand, and the order of the paper's three
 * schedulers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/tasks/throttle_run.h"
#include "tests/unit/common/throttle_scene.h"
#include "enum_table.h"

#define NEVER 1000000 /* samples in a row */

/* 16 chunks of 1 s, four threads; a sample a second, which comes after the chunks of that second.
 */
static const struct {
    double bandwidth;
    size_t nsamples;
    double sample[4];
    struct throttle_outcome outcome;
} by_hand[] = {
    {0, 1, {0.8}, {0, 4, 0, 0}},        {0.25, 1, {0.8}, {0, 4, 0, 0}}, /* up to the roof */
    {0.5, 1, {0.8}, {0, 8, 0, 0}},                                      /* twice the roof */
    {0, 1, {1}, {1, 5, 4, 3}},          /* from second 1 on three, from 2 on in fact */
    {0, 2, {1, 1}, {1, 5, 4, 3}},       /* once is enough */
    {0, 2, {1, 0.8}, {1, 5, 4, 3}},     /* normal changes nothing */
    {0, 3, {1, 0.8, 0}, {1, 5, 2, 1}},  /* back at 3, when one has rested for a second */
    {0, 4, {1, 0, 1, 0}, {2, 4, 2, 0}}, /* back before one has looked, and then too late for most */
    {0, 3, {1, NAN, 0}, {1, 4, 1, 0}},  /* nobody rests by what is not known */
};

static void test_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++) {
        struct throttle_loop loop = {16, 1, by_hand[i].bandwidth};
        struct throttle_program program = {.threads = 4,
                                           .n = 1,
                                           .loop = &loop,
                                           .rounds = 1,
                                           .rules = {0.9, 0.6, 1},
                                           .dt_s = 1,
                                           .nsamples = by_hand[i].nsamples,
                                           .sample = by_hand[i].sample};
        struct throttle_outcome outcome;

        throttle_run(&program, &outcome);
        assert_int_equal(outcome.reduced, by_hand[i].outcome.reduced);
        assert_float_equal(outcome.seconds, by_hand[i].outcome.seconds, 1e-9);
        assert_float_equal(outcome.throttled_s, by_hand[i].outcome.throttled_s, 1e-9);
        assert_float_equal(outcome.idle_thread_s, by_hand[i].outcome.idle_thread_s, 1e-9);
    }
}

/* At the roof 24 threads are as fast as 32, below it they are not: what resting costs is the work
 * of those that rest. */
static void test_roof(void **state)
{
    struct throttle_loop at_roof = {24000, 0.001, 1 / 24.}, below = {24000, 0.001, 1 / 48.};
    double saturated = 1;
    struct throttle_program program = {.threads = 32,
                                       .n = 1,
                                       .loop = &at_roof,
                                       .rounds = 2,
                                       .rules = {0.9, 0.6, 1},
                                       .dt_s = 1e-6,
                                       .nsamples = 1,
                                       .sample = &saturated};
    struct throttle_outcome outcome;

    (void)state;
    throttle_run(&program, &outcome);
    assert_float_equal(outcome.seconds, 2, 0.003);
    assert_float_equal(outcome.idle_thread_s, 8 * 2, 0.03);
    program.loop = &below;
    throttle_run(&program, &outcome);
    assert_float_equal(outcome.seconds, 2, 0.003);
    program.rules.hold = NEVER;
    throttle_run(&program, &outcome);
    assert_float_equal(outcome.seconds, 2 * 0.75, 0.003);
    assert_float_equal(outcome.idle_thread_s, 0, 0);
}

/* The program's own traffic: saturated while a loop is at the roof, idle in the next one. */
static void test_own_traffic(void **state)
{
    struct throttle_loop loops[] = {{2000, 0.01, 0.1}, {3200, 0.01, 0.001}};
    struct throttle_program program = {
        .threads = 32, .n = 2, .loop = loops, .rounds = 10, .rules = {1, 0.7, 5}, .dt_s = 0.01};
    struct throttle_outcome outcome;

    (void)state;
    throttle_run(&program, &outcome);
    assert_int_equal(outcome.reduced, 10);
    program.rules.saturated = 0.02; /* and the second one is not idle */
    program.rules.idle = 0.01;
    throttle_run(&program, &outcome);
    assert_int_equal(outcome.reduced, 1);
}

/* Tables 2 and 3, Strassen: the lazy scheduler throttles least often, the aggressive one most
 * often; the lazy one takes longest, and its threads rest longest, those of the aggressive one
 * shortest. */
static void test_schedulers(void **state)
{
    enum { LAZY, BASELINE, AGGRESSIVE, SCHEDULERS };
    static const unsigned TABLE(hold, SCHEDULERS) = {ROW(LAZY) = SATURATION_HOLD_LAZY, ROW(BASELINE) = SATURATION_HOLD_BASELINE,
                                              ROW(AGGRESSIVE) = SATURATION_HOLD_AGGRESSIVE};
    TABLE_COMPLETE(hold);

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct throttle_outcome outcome[SCHEDULERS];
        struct throttle_scene scene;

        throttle_scene_make(&scene, seed);
        for (int i = 0; i < SCHEDULERS; i++) {
            scene.program.rules.hold = hold[i];
            throttle_run(&scene.program, &outcome[i]);
        }
        assert_true(outcome[LAZY].reduced > 0);
        assert_true(outcome[LAZY].reduced < outcome[BASELINE].reduced);
        assert_true(outcome[BASELINE].reduced < outcome[AGGRESSIVE].reduced);
        assert_true(outcome[LAZY].seconds > outcome[BASELINE].seconds);
        assert_true(outcome[LAZY].seconds > outcome[AGGRESSIVE].seconds);
        assert_true(outcome[LAZY].idle_thread_s > outcome[BASELINE].idle_thread_s);
        assert_true(outcome[BASELINE].idle_thread_s > outcome[AGGRESSIVE].idle_thread_s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_roof),
        cmocka_unit_test(test_own_traffic),
        cmocka_unit_test(test_schedulers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
