/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_day_sim - the simulated node of tests/bench/day, by cases worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/bench/day_best.h"
#include "tests/bench/day_free.h"
#include "tests/bench/day_machines.h"
#include "tests/bench/day_search.h"
#include "tests/bench/day_sim.h"
#include "tests/bench/day_threads.h"
#include "tests/unit/bench/day_node.h"

/* What 0 suffers beside 0 and 1, then 1. */
static double pairs[4];
static struct app apps[2] = {
    {.ipc = 1, .llc_apki = 40, .llc_mpki = 20, .mem_gbps = 1, .cores = 1},
    {.ipc = 2, .llc_apki = 4, .llc_mpki = 1, .mem_gbps = 1, .cores = 1},
};

static void node_open(struct day_node *node, const char *topology, size_t n, const size_t *app)
{
    day_node_open(node, topology, 0, apps, pairs, n, app);
}

static double end_s(const struct day_node *node, size_t job)
{
    return (double)node->sim.job[job].ends / 1e9;
}

static void set_pairs(double a, double b, double c, double d)
{
    memcpy(pairs, (const double[]){a, b, c, d}, sizeof(pairs));
}

/* The first runs alone for 1 s, then 99 s of its work take twice as long: until 199. The second has
 * done 198 / 1.5 = 132 > 100 by then: it ends at 1 + 150 = 151, and the first, which has done
 * 1 + 75, is alone for the 24 that are left: 175. */
static void test_two(void **state)
{
    struct day_node node;
    const struct day_job *job;

    (void)state;
    set_pairs(0, 1, 0.5, 0);
    node_open(&node, "package:1 l3:1 core:2 pu:1", 2, (const size_t[]){0, 1});
    day_node_simulate(&node, &day_node_slurm);
    assert_true(fabs(end_s(&node, 1) - 151) < 1e-6 && fabs(end_s(&node, 0) - 175) < 1e-6);
    assert_true(fabs(node.sim.tally[0].took_s - 175 - 150) < 1e-6);
    assert_true(node.sim.tally[0].alone_s == 200 && node.sim.tally[0].moves == 0);
    job = &node.sim.job[0]; /* its instructions are its work's; half of its accesses miss alone */
    assert_true(fabs(job->counts.instructions / (100 * 2e9) - 1) < 1e-6);
    assert_true(fabs(job->counts.cycles / (175 * 2e9) - 1) < 1e-6);
    assert_true(job->counts.misses > 0.02 * job->counts.instructions);
    assert_true(job->counts.misses < job->counts.accesses);
    day_node_close(&node);
}

/* One core: first come, first served. */
static void test_queue(void **state)
{
    struct day_node node;

    (void)state;
    set_pairs(1, 1, 1, 1);
    node_open(&node, "package:1 l3:1 core:1 pu:1", 3, (const size_t[]){0, 1, 0});
    day_node_simulate(&node, &day_node_slurm);
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(end_s(&node, i) - 100 * (double)(i + 1)) < 1e-6);
    assert_true(fabs(node.sim.tally[0].wait_s - 99 - 198) < 1e-6);
    day_node_close(&node);
}

/* Slurm puts two devils on one cache and two turtles on the other; the optimum parts them, as soon
 * as there are cores to part them to, and nobody suffers from then on. */
static void test_best(void **state)
{
    struct day_node node;
    double alone;

    (void)state;
    set_pairs(1, 0, 0, 0);
    node_open(&node, "package:1 l3:2 core:2 pu:1", 4, (const size_t[]){0, 0, 1, 1});
    day_node_simulate(&node, &day_node_slurm);
    assert_true(fabs(end_s(&node, 0) - 199) < 1e-6 && fabs(end_s(&node, 1) - 200) < 1e-6);
    assert_true(node.sim.tally[0].work_s[DAY_BEST] > node.sim.tally[0].work_s[DAY_HOME] + 50);
    assert_true(fabs(node.sim.tally[0].work_s[DAY_STAND] - 400) < 1e-6);
    day_node_simulate(&node, &day_best);
    alone = 0.5 + DAY_COLD_S; /* of the second second, half was lost */
    assert_true(fabs(end_s(&node, 0) - 100 - alone) < 0.01);
    assert_true(fabs(end_s(&node, 1) - 101 - alone) < 0.01);
    assert_true(node.sim.tally[0].moves > 0);
    assert_true(fabs(node.sim.tally[0].work_s[DAY_BEST] - node.sim.tally[0].work_s[DAY_STAND]) <
                1e-6);
    day_node_close(&node);
}

/* Three devils and two turtles on caches of three cores: models/partition finds the best. */
static void test_best_of_three(void **state)
{
    struct day_node node;

    (void)state;
    set_pairs(1, 0, 0, 0);
    node_open(&node, "package:1 l3:2 core:3 pu:1", 5, (const size_t[]){0, 0, 1, 1, 1});
    day_node_simulate(&node, &day_best);
    for (size_t i = 2; i < 5; i++)
        assert_true(fabs(end_s(&node, i) - 100 - (double)i) < 0.1);
    assert_true(end_s(&node, 0) < 104 && end_s(&node, 1) < 105);
    day_node_close(&node);
}

/* The same seed draws the same jobs; load says how long they are. */
static void test_plan(void **state)
{
    struct day_plan plan = {.load = 0.5, .jobs = 2000, .days = 1, .seed = 7};
    struct berth_error err;
    struct day_sim other;
    double work_s = 0;
    struct day_node node;

    (void)state;
    node_open(&node, "package:1 l3:2 core:2 pu:1", 1, (const size_t[]){0});
    day_sim_close(&node.sim);
    assert_int_equal(day_sim_open(&node.sim, &node.truth, node.topo, &plan, &err), 0);
    assert_int_equal(day_sim_open(&other, &node.truth, node.topo, &plan, &err), 0);
    for (size_t i = 0; i < plan.jobs; i++) {
        assert_int_equal(other.job[i].arrives, node.sim.job[i].arrives);
        assert_int_equal(other.job[i].app, node.sim.job[i].app);
        assert_true(other.job[i].work_s == node.sim.job[i].work_s);
        work_s += other.job[i].work_s;
    }
    assert_true(fabs(work_s / (4 * DAY_S) - 0.5) < 0.05);
    assert_true(fabs((double)other.job[plan.jobs - 1].arrives / 1e9 / DAY_S - 1) < 0.1);
    day_sim_close(&other);
    day_node_close(&node);
}

/* The factors of a counter: their logarithms have the sigma that was asked for, instructions and
 * traffic nothing in common, two counters of traffic most; the same job at the same time has the
 * same. */
static void test_noise(void **state)
{
    const struct day_noise noise = {.job = 0.3, .phase = 0.15, .window = 0.05};
    double sum[DAY_NOISIES][DAY_NOISIES] = {{0}}, factor[DAY_NOISIES], again[DAY_NOISIES];
    double variance = 0.3 * 0.3 + 0.15 * 0.15 + 0.05 * 0.05;
    const uint32_t jobs = 20000;

    (void)state;
    for (uint32_t job = 1; job <= jobs; job++) {
        day_noise_at(&noise, 1, job, job * DAY_NS, factor);
        day_noise_at(&noise, 1, job, job * DAY_NS, again);
        assert_memory_equal(factor, again, sizeof(factor));
        for (size_t a = 0; a < DAY_NOISIES; a++)
            for (size_t b = 0; b < DAY_NOISIES; b++)
                sum[a][b] += log(factor[a]) * log(factor[b]) / jobs / variance;
    }
    for (size_t a = 0; a < DAY_NOISIES; a++)
        assert_true(fabs(sum[a][a] - 1) < 0.05);
    assert_true(fabs(sum[DAY_INSTRUCTIONS][DAY_MISSES]) < 0.05);
    assert_true(fabs(sum[DAY_ACCESSES][DAY_MISSES] - DAY_NOISE_SHARED) < 0.05);
}

/* Within a window all is the same; phases and windows end one after the other. */
static void test_noise_in_time(void **state)
{
    const struct day_noise job = {.job = 0.3}, phase = {.phase = 0.3}, window = {.window = 0.3};
    double first[DAY_NOISIES], then[DAY_NOISIES];
    size_t changes = 0;

    (void)state;
    day_noise_at(&window, 1, 1, 20 * DAY_NS, first);
    day_noise_at(&window, 1, 1, day_noise_until(20 * DAY_NS) - 1, then);
    assert_memory_equal(first, then, sizeof(first));
    day_noise_at(&window, 1, 1, day_noise_until(20 * DAY_NS), then);
    assert_true(first[0] != then[0] && first[1] != then[1]);
    day_noise_at(&job, 1, 1, 0, first);
    day_noise_at(&job, 1, 1, 9000 * DAY_NS, then);
    assert_memory_equal(first, then, sizeof(first));
    for (int64_t s = 0; s < 10 * DAY_PHASE_S; s += DAY_NOISE_S) {
        day_noise_at(&phase, 1, 1, s * DAY_NS, then);
        changes += s > 0 && first[0] != then[0];
        memcpy(first, then, sizeof(first));
    }
    assert_in_range(changes, 9, 10);
}

/* What is counted is uneven; what is done is not. */
static void test_noise_is_of_counters(void **state)
{
    struct day_node node;

    (void)state;
    set_pairs(0, 1, 0.5, 0);
    node_open(&node, "package:1 l3:1 core:2 pu:1", 2, (const size_t[]){0, 1});
    node.sim.plan.noise = (struct day_noise){.job = 0.5, .window = 0.5};
    day_node_simulate(&node, &day_node_slurm);
    assert_true(fabs(end_s(&node, 1) - 151) < 1e-6 && fabs(end_s(&node, 0) - 175) < 1e-6);
    assert_true(fabs(node.sim.job[0].counts.instructions / (100 * 2e9) - 1) > 0.01);
    assert_true(fabs(node.sim.job[0].counts.cycles / (175 * 2e9) - 1) < 1e-6);
    assert_true(node.sim.job[0].counts.misses <= node.sim.job[0].counts.accesses);
    day_node_close(&node);
}

/* Two devils on one cache may not be moved: the turtles' caches are no help. One of them may: it is
 * exchanged for a turtle. */
static void test_kept(void **state)
{
    struct day_node node;

    (void)state;
    set_pairs(1, 0, 0, 0);
    node_open(&node, "package:1 l3:2 core:2 pu:1", 4, (const size_t[]){0, 0, 1, 1});
    node.sim.job[0].will = DAY_KEPT;
    node.sim.job[1].will = DAY_STRANGER;
    day_node_simulate(&node, &day_best);
    assert_true(node.sim.tally[0].moves == 0 && fabs(end_s(&node, 0) - 199) < 1e-6);
    node.sim.job[0].will = DAY_FREE;
    day_node_simulate(&node, &day_best);
    assert_true(node.sim.tally[0].moves > 0 && end_s(&node, 0) < 102);
    day_node_close(&node);
}

/* Of two devils on one cache one is kept: the other one goes to the cache that nobody has, where
 * idle cores are places. */
static void test_kept_beside_idle_cores(void **state)
{
    struct day_node node;

    (void)state;
    set_pairs(1, 0, 0, 0);
    node_open(&node, "package:1 l3:2 core:2 pu:1", 2, (const size_t[]){0, 0});
    node.sim.job[0].will = DAY_KEPT;
    day_node_simulate(&node, &day_best);
    assert_true(node.sim.tally[0].moves == 0 && fabs(end_s(&node, 0) - 199) < 1e-6);
    node.sim.plan.idle = true;
    day_node_simulate(&node, &day_best);
    assert_true(fabs(end_s(&node, 0) - 100) < 2 && fabs(end_s(&node, 1) - 101) < 2);
    day_node_close(&node);
}

/* Slurm gives the core of a job that has ended, where an older one stands now, to one that is kept:
 * the older one goes. */
static void test_kept_at_home(void **state)
{
    struct day_sim *sim;
    struct day_node node;

    (void)state;
    node_open(&node, "package:1 l3:2 core:1 pu:1", 2, (const size_t[]){0, 0});
    sim = &node.sim;
    sim->live = 2;
    for (size_t i = 0; i < 2; i++) {
        sim->running[i] = &sim->job[i];
        sim->slurm[i] = &sim->job[1 - i];
        sim->job[i].core[DAY_STAND][0] = 0;
    }
    sim->job[1].will = DAY_KEPT;
    day_search_begin(sim);
    assert_true(sim->job[0].core[DAY_PLAN][0] == 1 && sim->job[1].core[DAY_PLAN][0] == 0);
    day_node_close(&node);
}

/* By lot there is nothing to win on the average; misses part the devils; who may use idle cores
 * parts them at once, and moves nobody that has run. */
static void test_placers(void **state)
{
    const struct day_placer *lot = &day_free_placer[0], *misses = &day_free_placer[1],
                            *emptiest = &day_free_placer[2];
    struct day_node node;

    (void)state;
    set_pairs(1, 0, 0, 0);
    node_open(&node, "package:1 l3:2 core:2 pu:1", 4, (const size_t[]){0, 0, 1, 1});
    day_node_simulate(&node, lot);
    assert_true(node.sim.tally[0].jobs == 4);
    day_node_simulate(&node, misses);
    assert_true(node.sim.tally[0].moves > 0 && end_s(&node, 0) < 102);
    day_node_simulate(&node, emptiest);
    assert_true(node.sim.tally[0].moves == 0 && fabs(end_s(&node, 0) - 100) < 1e-6);
    day_node_close(&node);
}

/* All are kept. Who knows the truth begins a devil's successor on the cache that nobody has, where
 * idle cores are places, and moves nobody; the optimum, too, where it would do without. */
static void test_at_the_start(void **state)
{
    const struct day_placer *start = &day_free_placer[3];
    struct day_node node;

    (void)state;
    set_pairs(1, 0, 0, 0);
    node_open(&node, "package:1 l3:2 core:2 pu:1", 3, (const size_t[]){0, 0, 1});
    for (size_t i = 0; i < 3; i++)
        node.sim.job[i].will = DAY_KEPT;
    day_node_simulate(&node, start);
    assert_true(fabs(end_s(&node, 0) - 199) < 1e-6);
    node.sim.plan.idle = true;
    day_node_simulate(&node, start);
    assert_true(node.sim.tally[0].moves == 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(end_s(&node, i) - 100 - (double)i) < 1e-6);
    day_node_simulate(&node, &day_node_slurm);
    assert_true(node.sim.tally[0].work_s[DAY_BEST] > node.sim.tally[0].work_s[DAY_HOME] + 50);
    day_node_close(&node);
}

/* A stranger gets the cores that Slurm gave him, whoever stands there. */
static void test_stranger_at_home(void **state)
{
    struct day_node node;

    (void)state;
    set_pairs(1, 0, 0, 0);
    node_open(&node, "package:1 l3:2 core:2 pu:1", 4, (const size_t[]){0, 0, 0, 0});
    for (size_t i = 1; i < 4; i++)
        node.sim.job[i].will = DAY_STRANGER;
    day_node_simulate(&node, &day_free_placer[2]);
    for (size_t i = 1; i < 4; i++)
        assert_memory_equal(node.sim.job[i].core[DAY_STAND], node.sim.job[i].core[DAY_HOME],
                            sizeof(size_t));
    day_node_close(&node);
}

/* Each machine that has a name can be had. */
static void test_machines(void **state)
{
    char spec[128];
    struct berth_error err;
    struct topo *topo;

    (void)state;
    for (size_t i = 0; i < day_machines; i++) {
        snprintf(spec, sizeof(spec), "%s core:2 pu:1", day_machine[i].above);
        if (topo_read(&topo, spec, &err) < 0)
            fail_msg("%s: %s", day_machine[i].name, err.text);
        assert_true(topo->nodes > 0 && topo->llcs > 1);
        assert_ptr_equal(day_machine_of(day_machine[i].name), &day_machine[i]);
        topo_free(topo);
    }
    assert_null(day_machine_of("none"));
}

/* Slurm gives two jobs both threads of one core, where each takes twice as long for the other, of
 * which the cache's neighbour is a half. With idle cores, the optimum and who looks for what is
 * empty part them: then they are neighbours on the cache. */
static void test_threads(void **state)
{
    double sibling[4] = {1, 1, 1, 1};
    struct day_node node;

    (void)state;
    set_pairs(0.5, 0.5, 0.5, 0.5);
    node_open(&node, "package:1 l3:1 core:2 pu:2", 2, (const size_t[]){0, 0});
    node.truth.sibling = sibling;
    day_node_simulate(&node, &day_node_slurm);
    assert_true(fabs(end_s(&node, 0) - 199) < 1e-6 && fabs(end_s(&node, 1) - 200) < 1e-6);
    day_node_simulate(&node, &day_free_placer[2]);
    assert_true(fabs(end_s(&node, 0) - 149.5) < 1e-6);
    node.sim.plan.idle = true;
    day_node_simulate(&node, &day_best);
    assert_true(fabs(end_s(&node, 0) - 149.5) < 1);
    day_node_close(&node);
}

/* Nobody minds his neighbours on the cache, and two devils each other on a core: the optimum has
 * each share a core with a turtle, below one cache. */
static void test_threads_change_places(void **state)
{
    double sibling[4] = {1, 0, 0, 0};
    struct day_node node;

    (void)state;
    set_pairs(0, 0, 0, 0);
    node_open(&node, "package:1 l3:1 core:2 pu:2", 4, (const size_t[]){0, 0, 1, 1});
    node.truth.sibling = sibling;
    day_node_simulate(&node, &day_node_slurm);
    assert_true(fabs(end_s(&node, 0) - 199) < 1e-6 && fabs(end_s(&node, 2) - 102) < 1e-6);
    day_node_simulate(&node, &day_best);
    assert_true(end_s(&node, 0) < 102 && end_s(&node, 1) < 103);
    assert_true(node.sim.tally[0].moves == 2);
    day_node_close(&node);
}

/* What is drawn is in the range of what was measured, and no less than on the cache. */
static void test_threads_draw(void **state)
{
    struct berth_error err;
    struct day_node node;
    size_t below = 0;

    (void)state;
    set_pairs(0, 0.3, 0, 0);
    node_open(&node, "package:1 l3:1 core:2 pu:2", 1, (const size_t[]){0});
    for (uint64_t seed = 1; seed <= 500; seed++) {
        assert_int_equal(day_threads_draw(&node.truth, seed, &err), 0);
        for (size_t i = 0; i < 4; i++)
            assert_true(node.truth.sibling[i] >= pairs[i] && node.truth.sibling[i] <= 0.99);
        below += node.truth.sibling[3] < 0.5;
        free(node.truth.sibling);
    }
    assert_in_range(below, 200, 300);
    day_node_close(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_at_the_start),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_threads_change_places),
        cmocka_unit_test(test_threads_draw),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_best_of_three),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_noise_in_time),
        cmocka_unit_test(test_noise_is_of_counters),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_kept_beside_idle_cores),
        cmocka_unit_test(test_kept_at_home),
        cmocka_unit_test(test_placers),
        cmocka_unit_test(test_stranger_at_home),
        cmocka_unit_test(test_machines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
