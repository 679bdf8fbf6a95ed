/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_day_many - jobs with sizes in tests/bench/day: what is drawn from a log, what many on a
 * cache suffer, and the best of them, by cases worked out by hand. */
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

#include "tests/bench/day_best.h"
#include "tests/bench/day_many.h"

static const struct day_placer slurm = {.name = "slurm"};

/* A devil hurts a devil by 1, a turtle by a half; turtles hurt nobody. Two cores were measured. */
static double pairs[4] = {1, 0, 0.5, 0};
static struct app apps[2] = {
    {.ipc = 1, .llc_apki = 40, .llc_mpki = 20, .mem_gbps = 8, .cores = 2},
    {.ipc = 2, .llc_apki = 4, .llc_mpki = 1, .mem_gbps = 1, .cores = 2},
};
static const char *names[2] = {"devil", "turtle"};
enum { DEVIL, TURTLE };

static struct day_truth truth_of_two(void)
{
    struct day_truth truth = {.slowdown = pairs, .line_bytes = 64, .clock_ghz = 2};

    truth.apps.n = 2;
    truth.apps.app = apps;
    truth.apps.name = names;
    return truth;
}

/* ---- what many suffer ---- */

static bool is(double got, double wanted)
{
    return fabs(got - wanted) < 1e-9;
}

static void test_beside(void **state)
{
    struct day_part pair[] = {{DEVIL, 2}, {DEVIL, 2}},
                    three[] = {{TURTLE, 2}, {DEVIL, 2}, {DEVIL, 1}}, alone[] = {{DEVIL, 2}},
                    wide[] = {{DEVIL, 4}}, small[] = {{DEVIL, 1}, {DEVIL, 3}},
                    full[] = {{DEVIL, 2}, {DEVIL, 2}, {DEVIL, 2}, {DEVIL, 2}},
                    quiet[] = {{DEVIL, 4}, {TURTLE, 4}};
    struct day_truth truth = truth_of_two();
    struct day_beside beside;
    struct berth_error err;

    (void)state;
    assert_int_equal(day_beside_open(&beside, &truth, &err), 0);
    assert_true(is(day_beside_on(&beside, alone, 1, 0), 0));
    assert_true(is(day_beside_on(&beside, pair, 2, 0), 1)); /* as measured */
    assert_true(is(day_beside_on(&beside, three, 3, 0), 1.5 * sqrt(1.5) - 1));
    assert_true(is(day_beside_on(&beside, wide, 1, 0), 1)); /* beside the rest of itself */
    assert_true(is(day_beside_on(&beside, quiet, 2, 0), 1));
    assert_true(is(day_beside_on(&beside, small, 2, 0), 2 * sqrt(2) - 1));
    assert_true(is(day_beside_on(&beside, small, 2, 1), 1)); /* sqrt 2 by itself, by the other */
    assert_true(
        is(day_beside_on(&beside, full, 4, 0), 3)); /* 2 * 2 * 2, but a fourth of it is his */
    day_beside_free(&beside);
}

/* ---- a log ---- */

static const char lines[] = "; Version: 2.2\n"
                            "1 0 5 100 4 -1 -1 4 -1 -1 1 1 1 1 1 -1 -1 -1\n"
                            "2 0 5 0 64 -1 -1 4 -1 -1 1 1 1 1 1 -1 -1 -1\n"
                            "3 0 5 100 5 -1 -1 5 -1 -1 1 1 1 1 1 -1 -1 -1 {17,17,18,18,18} q 1\n";

static void read_log(struct day_sizes *sizes, const char *text, int rc)
{
    char path[] = "/tmp/test_day_many.XXXXXX";
    int fd = mkstemp(path);
    struct berth_error err;

    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    assert_int_equal(day_sizes_read(sizes, path, &err), rc);
    unlink(path);
}

static void test_log(void **state)
{
    struct day_sizes sizes, none;
    size_t tasks, width, seen[2][6] = {{0}};
    struct berth_error err;
    uint64_t seed = 1;

    (void)state;
    read_log(&sizes, lines, 0);
    assert_int_equal(sizes.n, 3); /* the second never ran; the third is on two nodes */
    assert_true(sizes.size[0].cores == 4 && !sizes.size[0].ranks);
    assert_true(sizes.size[1].cores == 2 && sizes.size[1].ranks);
    assert_true(sizes.size[2].cores == 3 && sizes.size[2].ranks);
    for (size_t i = 0; i < 3000; i++) {
        day_sizes_draw(&sizes, &seed, 5, &tasks, &width);
        assert_true(tasks == 1 || width == 1);
        seen[tasks > 1][tasks * width]++;
    }
    assert_true(seen[1][2] > 900 && seen[1][3] > 900 && seen[1][4] > 400 && seen[0][4] > 400);
    assert_int_equal(seen[1][2] + seen[1][3] + seen[1][4] + seen[0][4], 3000);
    day_sizes_draw(&sizes, &seed, 1, &tasks, &width); /* no more than there are */
    assert_true(tasks == 1 && width == 1);
    day_sizes_free(&sizes);
    read_log(&none, "; nothing\n", -1);
    assert_int_equal(day_sizes_read(&none, "/nowhere/at/all", &err), -1);
}

/* ---- a node ---- */

struct node {
    struct day_truth truth;
    struct day_sim sim;
    struct topo *topo;
};

static struct day_size one = {1, false};
static const struct day_sizes of_one = {1, &one};

/* Jobs that arrive at once with 100 seconds of work each. */
static void node_open(struct node *node, const char *topology, size_t n)
{
    struct day_plan plan = {.load = 0.5, .jobs = n, .days = 1, .seed = 1, .sizes = &of_one};
    struct berth_error err;

    node->truth = truth_of_two();
    assert_int_equal(topo_read(&node->topo, topology, &err), 0);
    assert_int_equal(day_sim_open(&node->sim, &node->truth, node->topo, &plan, &err), 0);
}

static void node_close(struct node *node)
{
    day_sim_close(&node->sim);
    topo_free(node->topo);
}

/* The next of its jobs, with cores of its own: those that day_sim_open drew were one each. */
static void add(struct node *node, size_t app, size_t tasks, size_t width)
{
    struct day_sim *sim = &node->sim;
    struct day_job *job = &sim->job[sim->live];

    for (size_t w = 0; w < DAY_PLACES; w++)
        job->core[w] = calloc(tasks * width, sizeof(size_t));
    job->given = calloc(tasks * width, sizeof(size_t));
    job->app = app;
    job->tasks = tasks;
    job->width = width;
    job->cores = tasks * width;
    sim->running[sim->live++] = job;
    day_many_give(sim, job);
}

static void drop_all(struct node *node)
{
    for (size_t i = 0; i < node->sim.live; i++) {
        for (size_t w = 0; w < DAY_PLACES; w++)
            free(node->sim.running[i]->core[w]);
        free(node->sim.running[i]->given);
    }
    node_close(node);
}

static size_t llcs_of(const struct node *node, size_t job, enum day_where where)
{
    bool on[8] = {false};
    size_t n = 0;

    for (size_t c = 0; c < node->sim.job[job].cores; c++) {
        size_t llc = node->topo->core[node->sim.job[job].core[where][c]].llc;

        n += !on[llc];
        on[llc] = true;
    }
    return n;
}

/* Two ranks over two sockets, and a thread beside each: Slurm's places, sorted, and task by task.
 */
static void test_give(void **state)
{
    struct node node;

    (void)state;
    node_open(&node, "package:2 l3:1 core:4 pu:1", 2);
    add(&node, DEVIL, 4, 1);
    add(&node, TURTLE, 1, 2);
    assert_memory_equal(node.sim.job[0].given, ((size_t[]){0, 4, 1, 5}), 4 * sizeof(size_t));
    assert_memory_equal(node.sim.job[0].core[DAY_HOME], ((size_t[]){0, 1, 4, 5}),
                        4 * sizeof(size_t));
    assert_memory_equal(node.sim.job[1].core[DAY_STAND], ((size_t[]){2, 3}), 2 * sizeof(size_t));
    day_many_set(&node.sim, DAY_HOME);
    assert_true(is(node.sim.job[1].slowdown[DAY_HOME], 0.5));
    assert_true(is(day_many_slowdown(&node.sim, &node.sim.job[1], DAY_HOME), 0.5));
    assert_true(is(node.sim.job[0].slowdown[DAY_HOME], 0));
    drop_all(&node);
}

/* Two devils of one task each share a cache: the best parts them, and keeps each together. */
static void test_best(void **state)
{
    struct berth_error err;
    struct node node;

    (void)state;
    node_open(&node, "package:2 l3:1 core:4 pu:1", 4);
    add(&node, DEVIL, 1, 2);
    add(&node, DEVIL, 1, 2);
    add(&node, TURTLE, 1, 2);
    add(&node, TURTLE, 1, 2);
    day_many_set(&node.sim, DAY_HOME);
    assert_true(is(node.sim.job[0].slowdown[DAY_HOME], 1));
    assert_int_equal(day_best_find(&node.sim, &err), 0);
    day_many_set(&node.sim, DAY_BEST);
    assert_true(is(node.sim.job[0].slowdown[DAY_BEST], 0));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(llcs_of(&node, i, DAY_BEST), 1);
    drop_all(&node);
}

/* Slurm had to split a devil of one task, and turtles on both caches suffer: it is gathered where a
 * turtle of one core can make room, for the other would be split. */
static void test_best_gathers(void **state)
{
    struct berth_error err;
    struct node node;

    (void)state;
    node_open(&node, "package:2 l3:1 core:4 pu:1", 5);
    for (size_t i = 0; i < 3; i++)
        add(&node, TURTLE, 1, 1);
    add(&node, TURTLE, 1, 3);
    add(&node, DEVIL, 1, 2);
    assert_int_equal(llcs_of(&node, 4, DAY_HOME), 2);
    assert_int_equal(day_best_find(&node.sim, &err), 0);
    assert_int_equal(llcs_of(&node, 3, DAY_BEST), 1);
    assert_int_equal(llcs_of(&node, 4, DAY_BEST), 1);
    assert_int_equal(node.topo->core[node.sim.job[3].core[DAY_BEST][0]].llc, 1);
    drop_all(&node);
}

/* The whole day, drawn: nobody stands where he must not, and the best does most work. */
static void tell(double part)
{
    assert_true(part >= 0 && part <= 1);
}

static void test_day(void **state)
{
    struct day_size some[] = {{1, false}, {2, false}, {4, true}, {7, false}, {12, false}};
    struct day_sizes sizes = {5, some};
    struct day_plan plan = {.load = 0.6, .jobs = 150, .days = 1, .seed = 3, .sizes = &sizes};
    struct berth_error err;
    double home, best;
    struct node node;

    (void)state;
    node.truth = truth_of_two();
    assert_int_equal(topo_read(&node.topo, "package:2 l3:2 core:4 pu:1", &err), 0);
    assert_int_equal(day_sim_open(&node.sim, &node.truth, node.topo, &plan, &err), 0);
    assert_int_equal(day_sim_run(&node.sim, &slurm, tell, &err), 0);
    home = node.sim.tally[0].took_s / node.sim.tally[0].alone_s;
    assert_int_equal(day_sim_run(&node.sim, &day_best, tell, &err), 0);
    best = node.sim.tally[0].took_s / node.sim.tally[0].alone_s;
    assert_true(node.sim.tally[0].work_s[DAY_BEST] > node.sim.tally[0].work_s[DAY_HOME]);
    assert_true(best < home && best >= 1);
    node_close(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beside),       cmocka_unit_test(test_log),
        cmocka_unit_test(test_give),         cmocka_unit_test(test_best),
        cmocka_unit_test(test_best_gathers), cmocka_unit_test(test_day),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
