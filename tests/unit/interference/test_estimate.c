/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_probe_estimate - what probes of several situations say about one step. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packer/interference/estimate.h"

#define MIB ((size_t)1 << 20)

static const struct wire_step_id A = {1, 0}, B = {1, 1}, C = {2, 0};

static int set_up(void **state)
{
    *state = probe_history_new();
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    probe_history_free(*state);
    return 0;
}

/* A probe of a cache of 32 MiB with the steps named by letters: "AB". */
static void add(struct probe_history *history, const char *steps, double ratio)
{
    struct probe_set set = {.steps = 0};

    for (; *steps; steps++)
        assert_int_equal(probe_set_add(&set, *steps == 'A' ? A : *steps == 'B' ? B : C), 0);
    assert_int_equal(probe_history_add(history, 32 * MIB, &set, ratio, NULL), 0);
}

static void expect(const struct probe_history *history, struct wire_step_id id, double intensity,
                   double error, unsigned probes)
{
    struct probe_estimate estimate;

    assert_true(probe_history_estimate(history, id, &estimate));
    assert_true(fabs(estimate.intensity - intensity) < 1e-12);
    if (isnan(error))
        assert_true(isnan(estimate.error));
    else
        assert_true(fabs(estimate.error - error) < 1e-12);
    assert_int_equal(estimate.probes, probes);
}

static void test_sets(void **state)
{
    struct probe_set set = {.steps = 0};

    (void)state;
    assert_int_equal(probe_set_add(&set, C), 0);
    assert_int_equal(probe_set_add(&set, A), 0);
    assert_int_equal(probe_set_add(&set, B), 0);
    assert_int_equal(probe_set_add(&set, A), 0);
    assert_int_equal(set.steps, 3);
    assert_true(set.step[0].job == 1 && set.step[0].step == 0 && set.step[1].step == 1 &&
                set.step[2].job == 2);
    assert_true(probe_set_has(&set, B));
    assert_false(probe_set_has(&set, (struct wire_step_id){3, 0}));
    for (uint32_t i = 0; set.steps < PROBE_SET_MAX; i++)
        assert_int_equal(probe_set_add(&set, (struct wire_step_id){9, i}), 0);
    assert_int_equal(probe_set_add(&set, (struct wire_step_id){10, 0}), -1);
    assert_int_equal(probe_set_add(&set, A), 0); /* is in it */
}

static void test_alone(void **state)
{
    struct probe_history *history = *state;
    struct probe_estimate estimate;

    add(history, "A", 3);
    assert_false(probe_history_estimate(history, A, &estimate)); /* slower than what? */
    add(history, "", 2);
    expect(history, A, .5, NAN, 1); /* and how sure nobody can say */
    add(history, "A", 4);
    /* mean 3.5 of two, variance .5; the empty one's mean 2 of one: .5 * (1/2 + 1) */
    expect(history, A, .75, sqrt(.75) / 2, 2);
    assert_false(probe_history_estimate(history, B, &estimate));
}

static void test_by_what_it_adds(void **state)
{
    struct probe_history *history = *state;
    struct probe_estimate estimate;

    add(history, "", 2);
    add(history, "AB", 5);
    assert_false(probe_history_estimate(history, A, &estimate)); /* always together */
    assert_false(probe_history_estimate(history, B, &estimate));
    add(history, "A", 3);
    expect(history, A, .5, NAN, 1);
    expect(history, B, 1, NAN, 1);
    add(history, "ABC", 4.5); /* C adds less than nothing */
    expect(history, C, 0, NAN, 1);
    expect(history, B, 1, NAN, 1); /* of "AC" nothing is known */
}

static void test_weights_the_pairs(void **state)
{
    struct probe_history *history = *state;

    for (int i = 0; i < 4; i++) { /* four probes each: A alone adds 1 of 2 */
        add(history, "", 2);
        add(history, "A", 3);
    }
    add(history, "B", 4); /* one probe each: beside B it adds 2 of 2 */
    add(history, "AB", 6);
    /* weights 1 / (1/4 + 1/4) = 2 and 1/2 */
    expect(history, A, (2 * .5 + .5 * 1) / 2.5, 0, 5);
}

static void test_error_shrinks(void **state)
{
    struct probe_history *history = *state;
    struct probe_estimate few, many;

    for (int i = 0; i < 4; i++) {
        add(history, "", i % 2 ? 2.1 : 1.9);
        add(history, "A", i % 2 ? 3.1 : 2.9);
    }
    assert_true(probe_history_estimate(history, A, &few));
    for (int i = 0; i < 60; i++) {
        add(history, "", i % 2 ? 2.1 : 1.9);
        add(history, "A", i % 2 ? 3.1 : 2.9);
    }
    assert_true(probe_history_estimate(history, A, &many));
    assert_true(few.error > 0 && many.error < few.error / 3);
}

static void test_sizes_are_kept_apart(void **state)
{
    const struct probe_set none = {.steps = 0}, only = {.steps = 1, .step = {A}};
    struct probe_history *history = *state;
    struct probe_estimate estimate;

    add(history, "A", 3);
    assert_int_equal(probe_history_add(history, 8 * MIB, &none, 1, NULL), 0);
    assert_false(probe_history_estimate(history, A, &estimate));
    assert_int_equal(probe_history_add(history, 8 * MIB, &only, 1.25, NULL), 0);
    expect(history, A, .25, NAN, 1);
    assert_int_equal(probe_history_count(history, 8 * MIB, &none), 1);
    assert_int_equal(probe_history_count(history, 32 * MIB, &none), 0);
}

static void test_forgets(void **state)
{
    const struct probe_set only = {.steps = 1, .step = {B}};
    struct probe_history *history = *state;
    struct probe_estimate estimate;

    add(history, "", 2);
    add(history, "A", 3);
    add(history, "AB", 5);
    add(history, "B", 4);
    probe_history_forget(history, A);
    assert_false(probe_history_estimate(history, A, &estimate));
    expect(history, B, 1, NAN, 1);
    assert_int_equal(probe_history_count(history, 32 * MIB, &only), 1);
}

static void test_wrong_results(void **state)
{
    const struct probe_set none = {.steps = 0};
    const double wrong[] = {0, -1, NAN, INFINITY};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(probe_history_add(*state, MIB, &none, wrong[i], NULL), -1);
    assert_int_equal(probe_history_count(*state, MIB, &none), 0);
}

/* More situations than are kept: the empty one and the latest stay. */
static void test_is_bounded(void **state)
{
    const struct probe_set none = {.steps = 0};
    struct probe_set only = {.steps = 1};
    struct probe_history *history = *state;
    struct probe_estimate estimate;

    add(history, "", 2);
    for (uint32_t i = 0; i < 3 * PROBE_SITUATIONS_MAX; i++) {
        only.step[0] = (struct wire_step_id){100, i};
        assert_int_equal(probe_history_add(history, 32 * MIB, &only, 3, NULL), 0);
    }
    assert_int_equal(probe_history_count(history, 32 * MIB, &none), 1);
    assert_true(probe_history_estimate(history, only.step[0], &estimate));
    only.step[0].step = 0;
    assert_int_equal(probe_history_count(history, 32 * MIB, &only), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_sets),
                                       TEST(test_alone),
                                       TEST(test_by_what_it_adds),
                                       TEST(test_weights_the_pairs),
                                       TEST(test_error_shrinks),
                                       TEST(test_sizes_are_kept_apart),
                                       TEST(test_forgets),
                                       TEST(test_wrong_results),
                                       TEST(test_is_bounded)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
