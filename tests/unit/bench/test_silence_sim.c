/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_silence_sim - the program that tests/bench/silence plays, by cases worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/bench/silence_sim.h"

/* A train of so many seconds with a burst at the middle of each. */
static struct silence_train train_of(size_t n, double run_s)
{
    struct silence_train train = {.began_s = 1000, .seconds = (double)n};

    for (size_t i = 0; i < n; i++) {
        double at_s = train.began_s + (double)i + 0.5;

        silence_train_add(&train, &(struct silence_burst){.at_s = at_s,
                                                          .end_s = at_s + run_s,
                                                          .run_s = run_s,
                                                          .thread = 1 + (pid_t)(i % 2)});
    }
    return train;
}

static double longer(const struct silence_train *train, size_t nodes, double iteration_s,
                     bool together)
{
    struct silence_program program = {
        .nodes = nodes, .iteration_s = iteration_s, .together = together, .seed = 1};

    return silence_longer(train, &program);
}

static void no_burst_costs_nothing(void **state)
{
    struct silence_train train = {.began_s = 1000, .seconds = 10};

    (void)state;
    assert_true(longer(&train, 1, 0.001, false) == 1);
    assert_true(longer(&train, 1000, 0.1, true) == 1);
}

/* Of each second of the wall clock a hundredth is berthd's. */
static void a_node_loses_what_its_bursts_take(void **state)
{
    struct silence_train train = train_of(100, 0.01);

    (void)state;
    assert_true(fabs(longer(&train, 1, 0.1, false) - 1 / 0.99) < 0.001);
    assert_true(fabs(longer(&train, 1, 0.001, false) - 1 / 0.99) < 0.001); /* longer than it */
    silence_train_clear(&train);
}

/* It is as if they were one node. */
static void nodes_together_lose_what_one_loses(void **state)
{
    struct silence_train train = train_of(100, 0.01);

    (void)state;
    assert_true(longer(&train, 1000, 0.005, true) == longer(&train, 1, 0.005, true));
    silence_train_clear(&train);
}

/* With bursts on very many nodes each iteration loses one, and no more: a node that is still busy
 * when an iteration begins has its next burst much later. */
static void many_nodes_lose_a_burst_an_iteration(void **state)
{
    struct silence_train train = train_of(100, 0.01);
    double few = longer(&train, 10, 0.1, false), many = longer(&train, 2000, 0.1, false);

    (void)state;
    assert_true(few > 1.05 && few < 1.1);
    assert_true(many > 1.095 && many < 1.1001);
    assert_true(longer(&train, 100, 0.1, false) > few);
    silence_train_clear(&train);
}

/* Two bursts of the same iteration on the same node are added; two nodes have theirs beside each
 * other. */
static void bursts_of_a_node_are_added(void **state)
{
    struct silence_train train = train_of(10, 0.01), twice = train_of(10, 0.01);

    (void)state;
    for (size_t i = 0; i < train.n; i++) {
        struct silence_burst burst = train.burst[i];

        burst.at_s += 0.001;
        silence_train_add(&twice, &burst);
    }
    silence_train_sort(&twice);
    assert_true(fabs(longer(&twice, 1, 10, true) - 1 / 0.98) < 0.005);
    silence_train_clear(&train);
    silence_train_clear(&twice);
}

static void the_seed_decides(void **state)
{
    struct silence_train train = train_of(100, 0.01);
    struct silence_program program = {.nodes = 100, .iteration_s = 0.005, .seed = 1};
    double first = silence_longer(&train, &program);

    (void)state;
    assert_true(silence_longer(&train, &program) == first);
    program.seed = 2;
    assert_true(silence_longer(&train, &program) != first);
    silence_train_clear(&train);
}

/* A little apart is between together and at any instant. */
static void clocks_apart_cost_something(void **state)
{
    struct silence_train train = train_of(100, 0.01);
    struct silence_program program = {
        .nodes = 1000, .iteration_s = 0.005, .together = true, .skew_s = 0.02, .seed = 1};
    double apart = silence_longer(&train, &program);

    (void)state;
    assert_true(apart > longer(&train, 1000, 0.005, true));
    assert_true(apart < longer(&train, 1000, 0.005, false));
    silence_train_clear(&train);
}

static void figures_are_of_a_thread_or_all(void **state)
{
    struct silence_train train = {.began_s = 1000, .seconds = 20};
    struct silence_figures figures;

    (void)state;
    figures = silence_train_figures(&train, 0);
    assert_true(figures.n == 0 && figures.share == 0 && isnan(figures.worst_s));
    for (int i = 1; i <= 10; i++)
        silence_train_add(&train, &(struct silence_burst){.run_s = i, .thread = i <= 9 ? 7 : 8});
    figures = silence_train_figures(&train, 0);
    assert_true(figures.n == 10 && figures.a_second == 0.5 && figures.share == 55.0 / 20);
    assert_true(figures.median_s == 5.5 && figures.p90_s == 9 && figures.worst_s == 10);
    figures = silence_train_figures(&train, 8);
    assert_true(figures.n == 1 && figures.median_s == 10 && figures.p90_s == 10);
    silence_train_clear(&train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_burst_costs_nothing),
        cmocka_unit_test(a_node_loses_what_its_bursts_take),
        cmocka_unit_test(nodes_together_lose_what_one_loses),
        cmocka_unit_test(many_nodes_lose_a_burst_an_iteration),
        cmocka_unit_test(bursts_of_a_node_are_added),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(clocks_apart_cost_something),
        cmocka_unit_test(figures_are_of_a_thread_or_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
