/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_cluster - tests/bench/cluster: whole nodes suffer nothing, a node alone is as
 * tests/bench/day has it, all work that is asked is done, and nobody gains by being called another
 * name. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/bench/cluster_guess.h"
#include "tests/bench/cluster_sim.h"
#include "tests/bench/day_sim.h"

#define TOPOLOGY "package:2 l3:1 core:4 pu:1"

/* A devil hurts a devil by 1, a turtle by a half; turtles hurt nobody. Two cores were measured. */
static double pairs[4] = {1, 0, 0.5, 0};
static struct app apps[2] = {
    {.ipc = 1, .llc_apki = 40, .llc_mpki = 20, .mem_gbps = 8, .cores = 2},
    {.ipc = 2, .llc_apki = 4, .llc_mpki = 1, .mem_gbps = 1, .cores = 2},
};
static const char *names[2] = {"devil", "turtle"};

struct bench {
    struct day_truth truth, guess;
    struct day_beside by_truth, by_guess;
    struct topo *topo;
    struct cluster_log log;
    struct cluster_work work;
    struct cluster_machine machine;
    struct cluster_sim sim;
};

static void tell(double part)
{
    assert_true(part >= 0 && part <= 1);
}

/* Writes a log of n jobs, one a minute; the i-th has cores[i % kinds] and runs (i % 7 + 1) * 100 s.
 */
static void write_log(char *path, size_t n, const size_t *cores, size_t kinds)
{
    FILE *file = fdopen(mkstemp(path), "w");

    assert_non_null(file);
    for (size_t i = 0; i < n; i++)
        fprintf(file, "%zu %zu 0 %zu %zu -1 -1 1 900 -1 1 %zu 1 1 1 1 -1 -1\n", i, i * 60,
                (i % 7 + 1) * 100, cores[i % kinds], i % 5);
    fclose(file);
}

static void bench_open(struct bench *bench, const size_t *cores, size_t kinds, size_t nodes)
{
    char path[] = "/tmp/test_cluster.XXXXXX";
    struct day_noise none = {0};
    struct cluster_plan plan = {.nodes = nodes,
                                .cores = 8,
                                .load = 0.8,
                                .seed = 1,
                                .by_job = true,
                                .apps = 2,
                                .kinds = CLUSTER_KINDS};
    struct berth_error err;

    *bench = (struct bench){.truth = {.slowdown = pairs, .line_bytes = 64, .clock_ghz = 2}};
    bench->truth.apps.n = 2;
    bench->truth.apps.app = apps;
    bench->truth.apps.name = names;
    bench->truth.apps.machine = (struct app_machine){
        .llc_bytes = 1 << 20, .llc_ways = 16, .line_bytes = 64, .dram_gbps = 20, .clock_ghz = 2};
    write_log(path, 300, cores, kinds);
    assert_int_equal(cluster_log_read(&bench->log, path, &err), 0);
    unlink(path);
    assert_int_equal(topo_read(&bench->topo, TOPOLOGY, &err), 0);
    assert_int_equal(cluster_guess_open(&bench->guess, &bench->truth, &none, 1, 0.5, &err), 0);
    assert_int_equal(day_beside_open(&bench->by_truth, &bench->truth, &err), 0);
    assert_int_equal(day_beside_open(&bench->by_guess, &bench->guess, &err), 0);
    assert_int_equal(cluster_work_draw(&bench->work, &bench->log, &plan, &err), 0);
    bench->machine = (struct cluster_machine){.topo = bench->topo,
                                              .truth = &bench->by_truth,
                                              .guess = &bench->by_guess,
                                              .work = &bench->work,
                                              .idle = true};
    bench->sim = (struct cluster_sim){.work = &bench->work,
                                      .machine = &bench->machine,
                                      .choice = &cluster_choice[0],
                                      .seed = 1,
                                      .look = 8,
                                      .backfill = true};
}

static void bench_close(struct bench *bench)
{
    cluster_work_free(&bench->work);
    day_beside_free(&bench->by_guess);
    day_beside_free(&bench->by_truth);
    cluster_guess_free(&bench->guess);
    topo_free(bench->topo);
    cluster_log_free(&bench->log);
}

static void simulate(struct bench *bench, size_t nodes)
{
    struct berth_error err;

    if (cluster_machine_open(&bench->machine, nodes, &err) < 0 ||
        cluster_sim_run(&bench->sim, tell, &err) < 0)
        fail_msg("%s", err.text);
    cluster_machine_close(&bench->machine);
}

/* Jobs of whole nodes: exactly 0, whoever chooses, whatever is inside. */
static void test_whole_nodes(void **state)
{
    const size_t cores[] = {8, 16, 8, 24};
    struct bench bench;

    (void)state;
    bench_open(&bench, cores, 4, 6);
    assert_true(bench.work.shared == 0);
    for (size_t c = 0; c < cluster_choices; c++)
        for (size_t inside = 0; inside < CLUSTER_INSIDES; inside++) {
            bench.sim.choice = &cluster_choice[c];
            bench.machine.inside = (enum cluster_inside)inside;
            simulate(&bench, 6);
            assert_true(bench.sim.tally.jobs > 100);
            assert_true(bench.sim.tally.slowdowns == 0 && bench.sim.tally.more_core_s == 0 &&
                        bench.sim.tally.user_slowdowns == 0);
        }
    bench_close(&bench);
}

/* What is asked is done, by all; the same run twice is the same. */
static void test_all_is_done(void **state)
{
    const size_t cores[] = {1, 2, 11, 3, 1, 5, 8, 1};
    struct bench bench;

    (void)state;
    bench_open(&bench, cores, 8, 6);
    for (size_t i = 0; i < bench.work.n; i++)
        bench.work.job[i].counted = true; /* until the last has ended */
    for (size_t c = 0; c < cluster_choices; c++)
        for (size_t inside = 0; inside < CLUSTER_INSIDES; inside++) {
            struct cluster_tally *tally = &bench.sim.tally;
            double more;

            bench.sim.choice = &cluster_choice[c];
            bench.machine.inside = (enum cluster_inside)inside;
            simulate(&bench, 6);
            assert_true(tally->jobs == (double)bench.work.n && tally->more_core_s > 0);
            assert_true(fabs(tally->done_core_s / tally->asked_core_s - 1) < 1e-9);
            more = tally->more_core_s;
            simulate(&bench, 6);
            assert_true(tally->more_core_s == more);
        }
    bench_close(&bench);
}

/* By lot, and by lot under another name. */
static void test_lot_is_lot(void **state)
{
    struct cluster_choice twin = {"another", CLUSTER_LOT, false, 0};
    const size_t cores[] = {1, 2, 3, 5};
    struct bench bench;
    double more;

    (void)state;
    bench_open(&bench, cores, 4, 6);
    bench.sim.choice = &cluster_choice[2];
    assert_int_equal(bench.sim.choice->by, CLUSTER_LOT);
    simulate(&bench, 6);
    more = bench.sim.tally.more_core_s;
    bench.sim.choice = &twin;
    simulate(&bench, 6);
    assert_true(bench.sim.tally.more_core_s == more && more > 0);
    bench_close(&bench);
}

/* One node, first come, first served: each job of tests/bench/day ends at the same time. */
static void test_one_node_is_a_day(void **state)
{
    static const struct day_placer slurm = {.name = "slurm"};
    static const struct day_sizes sizes;
    const size_t cores[] = {1, 2, 1, 4, 1, 3};
    struct day_given given[400];
    struct day_plan plan = {.load = 1, .days = 1, .seed = 1, .sizes = &sizes, .given = given};
    struct berth_error err;
    struct day_sim day;
    struct bench bench;

    (void)state;
    bench_open(&bench, cores, 6, 1);
    bench.sim.backfill = false;
    for (size_t i = 0; i < bench.work.n; i++)
        bench.work.job[i].counted = true;
    simulate(&bench, 1);
    assert_true(bench.work.n <= 400);
    plan.jobs = bench.work.n;
    for (size_t i = 0; i < bench.work.n; i++) {
        const struct cluster_job *job = &bench.work.job[i];
        const struct cluster_piece *piece = &bench.work.piece[job->first];
        double alone =
            0; /* a devil of one task is beside itself beyond two cores; so is log's time */

        if (job->app == 0 && piece->tasks == 1 && piece->cores > 2)
            alone = pow(2, (double)piece->cores / 2 - 1) - 1;
        given[i] = (struct day_given){job->arrives_s, job->run_s / (1 + alone), job->app,
                                      piece->tasks, piece->width};
    }
    assert_int_equal(day_sim_open(&day, &bench.truth, bench.topo, &plan, &err), 0);
    assert_int_equal(day_sim_run(&day, &slurm, tell, &err), 0);
    for (size_t i = 0; i < day.n; i++)
        assert_true(fabs((double)day.job[i].ends / 1e9 - bench.work.job[i].ends_s) < 1e-3);
    day_sim_close(&day);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_nodes),
        cmocka_unit_test(test_all_is_done),
        cmocka_unit_test(test_lot_is_lot),
        cmocka_unit_test(test_one_node_is_a_day),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
