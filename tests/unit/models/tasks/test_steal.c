/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_steal - runs that can be followed by hand; what holds of any; and the thesis' ratios: of
 * random attempts about .4 miss, of constrained ones .1 (Tables 3.2 and 3.3), and between M domains
 * random stealing is remote for (M - 1) / M of the tasks (Table 4.2), by topology for fewer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/tasks/steal.h"
#include "models/tasks/threshold.h"

#define NEAR_S 77e-9 /* of the thesis' Table 6.1 */
#define FAR_S 125e-9
#define SEEDS 5

static double latency_s[STEAL_DOMAINS_MAX * STEAL_DOMAINS_MAX];
static unsigned cores[STEAL_DOMAINS_MAX];

/* Trees of tasks of 10 us on so many domains of so many cores each. */
static struct steal_program program(size_t domains, unsigned each, enum steal_policy policy)
{
    for (size_t i = 0; i < domains; i++) {
        cores[i] = each;
        for (size_t k = 0; k < domains; k++)
            latency_s[i * domains + k] = i == k ? NEAR_S : FAR_S;
    }
    return (struct steal_program){.kind = STEAL_TREE,
                                  .n = 100000,
                                  .mean_s = 10e-6,
                                  .sd_s = 3e-6,
                                  .domains = domains,
                                  .cores = cores,
                                  .latency_s = latency_s,
                                  .push_s = 100e-9,
                                  .pop_s = 100e-9,
                                  .capacity = THRESHOLD_CAPACITY,
                                  .policy = policy};
}

static struct steal_outcome run(const struct steal_program *program)
{
    struct steal_outcome outcome;

    assert_int_equal(steal_run(program, &outcome), 0);
    return outcome;
}

/* Sums over some seeds. */
static struct steal_outcome run_seeds(struct steal_program program)
{
    struct steal_outcome sum = {0};

    for (program.seed = 1; program.seed <= SEEDS; program.seed++) {
        struct steal_outcome one = run(&program);

        sum.seconds += one.seconds;
        sum.steals += one.steals;
        sum.journeys += one.journeys;
        sum.misses += one.misses;
        sum.remote += one.remote;
    }
    return sum;
}

static double miss_ratio(const struct steal_outcome *outcome)
{
    return (double)outcome->misses / (double)(outcome->misses + outcome->journeys);
}

static double remote_share(const struct steal_outcome *outcome)
{
    return (double)outcome->remote / (double)outcome->steals;
}

/* ---- by hand ---- */

/* One worker: the tasks, one after the other, and what its queue costs. */
static void test_serial(void **state)
{
    (void)state;
    for (int policy = STEAL_RANDOM; policy <= STEAL_LITERAL; policy++) {
        struct steal_program one = program(1, 1, (enum steal_policy)policy);
        struct steal_outcome outcome;

        one.sd_s = 0;
        outcome = run(&one);
        /* all but the first task are pushed and popped */
        assert_float_equal(outcome.seconds, 100000 * 10e-6 + 99999 * 200e-9, 1e-9);
        assert_float_equal(outcome.work_s, 1, 1e-9);
        assert_int_equal(outcome.steals + outcome.misses + outcome.remote, 0);
        one.kind = STEAL_FLAT;
        assert_float_equal(run(&one).seconds, 100000 * (10e-6 + 200e-9), 1e-9);
    }
}

/* Two workers, two domains, three tasks of a tree: 10 us, then one each. The thief has missed seven
 * times, each 125 ns away, and waited 77 ns, then twice as long and so on: it comes at 10.654 us,
 * has the second task 250 ns later and runs it for 10 us. Worker 0, who is done at 20.2, misses
 * twice. */
static void test_two(void **state)
{
    struct steal_program two = program(2, 1, STEAL_RANDOM);
    struct steal_outcome outcome;

    (void)state;
    two.n = 3;
    two.sd_s = 0;
    two.seed = 3; /* that cuts the two below the first in halves */
    outcome = run(&two);
    assert_int_equal(outcome.steals, 1);
    assert_int_equal(outcome.remote, 1);
    assert_int_equal(outcome.misses, 7 + 2);
    assert_float_equal(outcome.seconds, 20.904e-6, 1e-12);
}

/* ---- any ---- */

/* The same tasks run whatever the policy is, in no less time than the machine allows. */
static void test_work(void **state)
{
    struct steal_program alone = program(1, 1, STEAL_RANDOM);
    double work_s = run(&alone).work_s;

    (void)state;
    for (int policy = STEAL_RANDOM; policy <= STEAL_LITERAL; policy++)
        for (int kind = STEAL_FLAT; kind <= STEAL_TREE; kind++) {
            struct steal_program many = program(2, 6, (enum steal_policy)policy);
            struct steal_outcome outcome;

            many.kind = (enum steal_kind)kind;
            outcome = run(&many);
            assert_float_equal(outcome.work_s, work_s, 1e-9 * work_s);
            assert_true(outcome.seconds >= work_s / 12);
            assert_true(outcome.remote <= outcome.steals && outcome.journeys <= outcome.steals);
            assert_true(outcome.steals == outcome.journeys || policy == STEAL_TOPOLOGY ||
                        policy == STEAL_SHEPHERD);
        }
}

static void test_same_again(void **state)
{
    struct steal_program program_now = program(2, 6, STEAL_TOPOLOGY);
    struct steal_outcome one = run(&program_now), again = run(&program_now), other;

    (void)state;
    assert_memory_equal(&one, &again, sizeof(one));
    program_now.seed++;
    other = run(&program_now);
    assert_memory_not_equal(&one, &other, sizeof(one));
}

/* A worker that has nothing to do looks again after a task's mean at most, however long that is:
 * runs of tasks of hours take no longer than those of microseconds. */
static void test_long_tasks(void **state)
{
    struct steal_program hours = program(2, 6, STEAL_RANDOM);
    struct steal_outcome outcome;

    (void)state;
    hours.n = 1000;
    hours.mean_s = 10000;
    hours.sd_s = 3000;
    outcome = run(&hours);
    assert_true(outcome.misses < 20 * hours.n);
    assert_true(outcome.seconds < outcome.work_s / 2);
}

/* ---- the thesis ---- */

static void test_misses(void **state)
{
    double random = 0, constrained = 0;
    unsigned rows = 0;

    (void)state;
    for (unsigned each = 2; each <= 12; each += 2, rows++) {
        struct steal_outcome any = run_seeds(program(2, each, STEAL_RANDOM)),
                             victims = run_seeds(program(2, each, STEAL_THRESHOLD));

        assert_true(miss_ratio(&victims) < 0.5 * miss_ratio(&any));
        random += miss_ratio(&any);
        constrained += miss_ratio(&victims);
    }
    assert_in_range(100 * random / rows, 35, 65);
    assert_in_range(100 * constrained / rows, 3, 15);
}

static void test_remote(void **state)
{
    (void)state;
    for (size_t domains = 2; domains <= 4; domains++) {
        struct steal_outcome random = run_seeds(program(domains, 12, STEAL_RANDOM)),
                             topology = run_seeds(program(domains, 12, STEAL_TOPOLOGY));
        double others = (double)(domains - 1) / (double)domains;

        assert_float_equal(remote_share(&random), others, 0.06);
        assert_true(remote_share(&topology) < 0.25 * others);
    }
}

/* Of a million tasks no more cross than of few: what one domain has more than the other. */
static void test_remote_many(void **state)
{
    struct steal_program many = program(2, 12, STEAL_TOPOLOGY);
    struct steal_outcome outcome;

    (void)state;
    many.n = 1000000;
    many.seed = 1;
    outcome = run(&many);
    assert_true(remote_share(&outcome) < 0.13);
    assert_true(outcome.remote < 1000);
    assert_true(miss_ratio(&outcome) < 0.1);
}

/* Whose domain has less to do brings half of the other's queues at once: fewer tasks cross than
 * where everybody goes there, and that takes no longer. */
static void test_remote_flat(void **state)
{
    struct steal_program flat = program(2, 12, STEAL_TOPOLOGY);
    struct steal_outcome topology, threshold;

    (void)state;
    flat.kind = STEAL_FLAT;
    topology = run_seeds(flat);
    flat.policy = STEAL_THRESHOLD;
    threshold = run_seeds(flat);
    assert_true(remote_share(&topology) < 0.35);
    assert_true(remote_share(&threshold) > 0.45);
    assert_true(topology.remote < threshold.remote);
    assert_true(topology.seconds < 1.001 * threshold.seconds);
}

/* As printed, a tree is never stolen from: no queue of it becomes full. */
static void test_literal(void **state)
{
    struct steal_program literal = program(2, 6, STEAL_LITERAL);
    struct steal_outcome outcome;

    (void)state;
    literal.capacity = THRESHOLD_CAPACITY_LITERAL;
    outcome = run(&literal);
    assert_int_equal(outcome.steals, 0);
    assert_true(outcome.seconds >= outcome.work_s);
}

/* A shepherd's workers wait for one, who goes to others only. */
static void test_shepherd(void **state)
{
    struct steal_outcome shepherd = run_seeds(program(2, 12, STEAL_SHEPHERD)),
                         random = run_seeds(program(2, 12, STEAL_RANDOM));

    (void)state;
    assert_int_equal(shepherd.remote, shepherd.steals);
    assert_true(shepherd.steals > 0);
    assert_true(shepherd.misses < random.misses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serial),      cmocka_unit_test(test_two),
        cmocka_unit_test(test_work),        cmocka_unit_test(test_same_again),
        cmocka_unit_test(test_misses),      cmocka_unit_test(test_remote),
        cmocka_unit_test(test_remote_flat), cmocka_unit_test(test_literal),
        cmocka_unit_test(test_remote_many), cmocka_unit_test(test_long_tasks),
        cmocka_unit_test(test_shepherd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
