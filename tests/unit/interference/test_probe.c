/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_probe - when and where a cache is probed: /proc/stat and Slurm's cpusets are trees of plain
 * files, the machine is a synthetic one of two caches with two cores each. The probes themselves
 * are real, on a CPU of the machine that runs the test. */
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/interference/probe.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/slurm_tree.h"

#define V1 "sys/fs/cgroup/cpuset/"
#define JOB V1 "slurm_n1/uid_1000/job_7"
#define V2 "sys/fs/cgroup/system.slice/"

struct node {
    char path[64];
    struct rootfs root;
    struct topo *topo;
    struct conf conf;
    struct enforce enforce;
    struct counters_node counters;
    struct probe *probe;
    double now_s;
};

/* ---- a node ---- */

/* A job's folder, with these CPUs, in which somebody is. */
static void node_job(const struct node *node, const char *job, const char *cpus)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/cpuset.cpus", job);
    folder_put(node->path, path, cpus);
    snprintf(path, sizeof(path), "%s/cgroup.procs", job);
    folder_put(node->path, path, "1\n");
    snprintf(path, sizeof(path), "%s/cgroup.events", job);
    folder_put(node->path, path, "populated 1\n");
}

static void node_drop(const struct node *node, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", node->path, name);
    folder_remove(path);
}

/* A text of /proc/stat: the CPUs' busy and idle ticks. */
static char *stat_text(char text[1024], size_t cpus, const unsigned *busy, const unsigned *idle)
{
    int used = sprintf(text, "cpu  1000 2 3 4 5 6 7 8 9 10\n");

    for (size_t i = 0; i < cpus; i++)
        used += sprintf(text + used, "cpu%zu %u 0 0 %u 0 0 0 0 0 0\n", i, busy[i], idle[i]);
    sprintf(text + used, "intr 1 2 3\nctxt 5\n");
    return text;
}

static void node_stat(const struct node *node, const unsigned busy[4], const unsigned idle[4])
{
    char text[1024];

    folder_put(node->path, "proc/stat", stat_text(text, 4, busy, idle));
}

static int set_up(void **state)
{
    struct node *node = calloc(1, sizeof(*node));

    folder_new(node->path, sizeof(node->path), "berth-probe");
    assert_int_equal(rootfs_open(&node->root, node->path, NULL), 0);
    assert_int_equal(topo_read(&node->topo, "package:1 l3:2 core:2 pu:1", NULL), 0);
    for (size_t i = 0; i < node->topo->llcs; i++)
        node->topo->llc[i].size_bytes = 2 << 20;
    conf_init(&node->conf);
    node->conf.probe = CONF_ON;
    node->conf.probe_every_ms = 10000;
    node->conf.probe_time_ms = 50;
    node->enforce = (struct enforce){.root = &node->root, .cgroup_root = "/sys/fs/cgroup"};
    node->counters = (struct counters_node){
        .root = &node->root, .topo = node->topo, .enforce = &node->enforce, .conf = &node->conf};
    folder_put(node->path, V1 "cpuset.cpus", "0-3\n");
    node_job(node, JOB, "1\n");
    node_stat(node, (unsigned[4]){0}, (unsigned[4]){100, 100, 100, 100});
    node->now_s = 1000;
    *state = node;
    return 0;
}

static int tear_down(void **state)
{
    struct node *node = *state;

    probe_close(node->probe);
    topo_free(node->topo);
    rootfs_close(&node->root);
    node_drop(node, "");
    free(node);
    return 0;
}

static struct cpus cpus_of(const char *text)
{
    struct cpus cpus;

    assert_int_equal(cpus_parse(&cpus, text), 0);
    return cpus;
}

static void assert_cpus(const struct cpus *cpus, const char *want)
{
    char text[CPUS_TEXT_MAX];

    assert_int_equal(cpus_format(cpus, text, sizeof(text)), 0);
    assert_string_equal(text, want);
}

static struct probe_step step_on(uint32_t job, const char *cpus)
{
    return (struct probe_step){.id = {job, 0}, .cpus = cpus_of(cpus), .confined = true};
}

/* ---- decisions ---- */

static void test_idle_cpus(void **state)
{
    static const unsigned busy[2][6] = {{9, 9, 9, 9, 9, 9}, {9, 14, 15, 109, 10, 8}};
    static const unsigned idle[2][6] = {{1, 1, 1, 1, 1, 1}, {101, 96, 95, 1, 40, 101}};
    char before[1024], after[1024], fewer[1024];
    struct cpus cpus;

    (void)state;
    stat_text(before, 6, busy[0], idle[0]);
    stat_text(after, 6, busy[1], idle[1]);
    assert_int_equal(probe_idle_cpus(before, after, &cpus), 0);
    /* not: 6 of 100 busy, all busy, 40 ticks only, time that went back */
    assert_cpus(&cpus, "0-1");
    stat_text(fewer, 1, busy[0], idle[0]); /* the others have just come online */
    assert_int_equal(probe_idle_cpus(fewer, after, &cpus), 0);
    assert_cpus(&cpus, "0");
    assert_int_equal(probe_idle_cpus("cpu 1 2 3 4 5\n", "cpu 1 2 3 4 500\n", &cpus), -1);
    assert_int_equal(probe_idle_cpus("", after, &cpus), -1);
    assert_int_equal(probe_idle_cpus(before, "", &cpus), -1);
    assert_int_equal(probe_idle_cpus("cpu0 0 0 0 0 0 0 0 0\ncpu2 0 0 0 0 0 0 0 0\n",
                                     "cpu0 0 0 0 90 9 0 0 0\ncpu1 0 0 0 99 0 0 0 0\n"
                                     "cpu2 0 0 0 90 0 0 0 9\n",
                                     &cpus),
                     0);
    assert_cpus(&cpus, "0"); /* waiting for a disk is idle, stolen time is not */
}

static void test_held_cpus(void **state)
{
    struct node *node = *state;
    struct berth_error err;
    struct cpus held;

    node_job(node, V1 "slurm_n1/uid_1000/job_8", "3\n");
    node_job(node, V1 "slurm_n1/uid_0/job_9", "8-9\n");
    node_job(node, V1 "slurm_n2/uid_0/job_9", "64\n"); /* a second slurmd */
    folder_put(node->path, V1 "berth/7.0/cpuset.cpus", "5\n");
    assert_int_equal(probe_held_cpus(&node->enforce, &held, &err), 0);
    assert_cpus(&held, "1,3,8-9,64");

    folder_put(node->path, V1 "slurm_n1/uid_0/job_9/cpuset.cpus", "\n");
    assert_int_equal(probe_held_cpus(&node->enforce, &held, &err), -1);
    assert_non_null(strstr(err.text, "job_9"));
    node_drop(node, V1 "slurm_n1/uid_0/job_9/cpuset.cpus"); /* a job whose list cannot be read */
    assert_int_equal(probe_held_cpus(&node->enforce, &held, &err), -1);

    node_drop(node, V1 "slurm_n1");
    node_drop(node, V1 "slurm_n2");
    assert_int_equal(probe_held_cpus(&node->enforce, &held, &err), -1);
    assert_non_null(strstr(err.text, "ConstrainCores=no"));
    folder_put(node->path, V1 "slurm/tasks", ""); /* Slurm's, without a job */
    assert_int_equal(probe_held_cpus(&node->enforce, &held, &err), 0);
    assert_true(cpus_empty(&held));
}

static void test_held_cpus_of_cgroup2(void **state)
{
    struct node *node = *state;
    struct berth_error err;
    struct cpus held;

    node_drop(node, V1);
    folder_put(node->path, V2 "ssh.service/cpuset.cpus", "7\n");
    assert_int_equal(probe_held_cpus(&node->enforce, &held, &err), -1);
    node_job(node, V2 "n1_slurmstepd.scope/job_7", "0-1\n");
    node_job(node, V2 "slurmstepd.scope/job_8", "4\n");
    folder_put(node->path, V2 "slurmstepd.scope/system/cpuset.cpus", "\n");
    assert_int_equal(probe_held_cpus(&node->enforce, &held, &err), 0);
    assert_cpus(&held, "0-1,4");
    node_job(node, V2 "slurmstepd.scope/job_9", "\n"); /* ConstrainCores=no */
    assert_int_equal(probe_held_cpus(&node->enforce, &held, &err), -1);
}

/* Of each series of Slurm; a job that was left behind without a process holds none. */
static void test_held_cpus_of_each_series(void **state)
{
    (void)state;
    for (size_t i = 0; i < slurm_series_n; i++) {
        struct slurm_tree tree;
        struct berth_error err;
        struct cpus held;

        slurm_tree_open(&tree, &slurm_series[i]);
        for (uint32_t job = 7; job <= 8; job++) {
            slurm_tree_job(&tree, job, job == 7 ? "0-1\n" : "4\n");
            slurm_tree_step(&tree, (struct wire_step_id){job, 0}, "0\n", (pid_t)(100 + job));
        }
        if (probe_held_cpus(&tree.enforce, &held, &err) < 0)
            fail_msg("%s: %s", slurm_series[i].name, err.text);
        assert_cpus(&held, "0-1,4");
        slurm_tree_end(&tree, 7);
        assert_int_equal(probe_held_cpus(&tree.enforce, &held, &err), 0);
        assert_cpus(&held, "4");
        slurm_tree_close(&tree);
    }
}

static void test_chooses_a_free_core(void **state)
{
    static const struct {
        const char *held, *idle;
        size_t llc;
        long cpu;
    } cases[] = {{"", "0-7", 0, 3},     {"", "0-7", 1, 7},  {"3", "0-7", 0, 1},
                 {"2", "0-7", 0, 1},    {"", "0-2", 0, 1},  {"0,2", "0-7", 0, -1},
                 {"4-7", "0-7", 1, -1}, {"", "4-7", 0, -1}, {"", "0-1,4-5", 1, 5}};
    struct topo *topo;

    (void)state;
    /* hardware threads of a core are neighbours here: 0-1, 2-3, ... */
    assert_int_equal(topo_read(&topo, "package:1 l3:2 core:2 pu:2", NULL), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cpus held = cpus_of(cases[i].held), idle = cpus_of(cases[i].idle);
        long cpu = probe_choose_cpu(topo, cases[i].llc, &held, &idle);

        if ((cpu < 0) != (cases[i].cpu < 0) ||
            (cpu >= 0 &&
             topo_core_of_cpu(topo, (size_t)cpu) != topo_core_of_cpu(topo, (size_t)cases[i].cpu)))
            fail_msg("case %zu: CPU %ld", i, cpu);
    }
    topo_free(topo);
}

static void test_rank(void **state)
{
    (void)state;
    assert_true(probe_rank(0, .2, 1000, 2000) == 0);
    assert_true(probe_rank(.1, .2, 1000, 2000) == 500);
    assert_true(probe_rank(.2, .2, 1000, 2000) == 1000);
    assert_true(probe_rank(.4, .2, 1000, 2000) == 1500);
    assert_true(probe_rank(1e3, .2, 1000, 2000) < 2000);
    assert_true(probe_rank(1e3, .2, 1000, 2000) > probe_rank(100, .2, 1000, 2000));
    assert_true(probe_rank(.4, 0, 1000, 2000) == 1000);
    assert_true(probe_rank(.4, NAN, 1000, 2000) == 1000);
}

/* ---- a probe ---- */

static void test_is_off(void **state)
{
    struct node *node = *state;
    struct berth_error err;

    node->conf.probe = CONF_OFF;
    assert_int_equal(probe_open(&node->probe, &node->counters, &err), -1);
    node->conf.probe = CONF_ON;
    node_drop(node, "sys");
    assert_int_equal(probe_open(&node->probe, &node->counters, &err), -1);
    assert_non_null(strstr(err.text, "no cpusets"));
    node->probe = NULL;
}

/* All but `busy` idle for a second, from a first look to the second: what probe_begin says then. */
static int begin(struct node *node, const char *busy, const struct probe_step *step, size_t n,
                 struct berth_error *err)
{
    struct cpus at_work = cpus_of(busy);
    unsigned worked[4] = {0}, rested[4] = {0};

    node_stat(node, worked, rested);
    assert_int_equal(probe_begin(node->probe, node->now_s, step, n, err), -1);
    assert_string_equal(err->text, "");
    for (size_t cpu = 0; cpu < 4; cpu++)
        *(cpus_has(&at_work, cpu) ? &worked[cpu] : &rested[cpu]) = 100;
    node_stat(node, worked, rested);
    node->now_s += probe_wait_s(node->probe, node->now_s);
    return probe_begin(node->probe, node->now_s, step, n, err);
}

static void test_where_it_does_not(void **state)
{
    struct node *node = *state;
    struct probe_step free_step = {.id = {7, 0}, .cpus = cpus_of("1")};
    struct probe_step one = step_on(7, "0-3"), half[] = {step_on(7, "0"), step_on(8, "2")};
    struct berth_error err = {""};

    assert_int_equal(probe_open(&node->probe, &node->counters, &err), 0);
    assert_int_equal(begin(node, "1", &free_step, 1, &err), -1);
    assert_non_null(strstr(err.text, "in no cpuset"));

    node->now_s += 100;
    assert_int_equal(begin(node, "", &one, 1, &err), -1);
    assert_non_null(strstr(err.text, "no idle core"));

    node->now_s += 100;
    assert_int_equal(begin(node, "1,3", half, 2, &err), -1); /* nobody's steps */
    assert_non_null(strstr(err.text, "somebody else"));

    node->now_s += 100;
    folder_put(node->path, JOB "/cpuset.cpus", "\n");
    assert_int_equal(begin(node, "", half, 2, &err), -1);
    assert_non_null(strstr(err.text, "anywhere"));
}

/* Which CPU the next probe takes; -1 none. The reporter may not get there: it is ended. */
static long probed(struct node *node, const char *busy, const struct probe_step *step, size_t n)
{
    struct probe_result result = {.llc = 99};
    struct berth_error err = {""};

    if (begin(node, busy, step, n, &err) < 0)
        return -1;
    assert_int_equal(probe_begin(node->probe, node->now_s, step, n, &err), -1); /* one at a time */
    probe_end(node->probe, &result, &err);
    waitpid(-1, NULL, 0); /* where it was killed it may take a while to go */
    return (long)result.llc;
}

static void test_takes_turns(void **state)
{
    struct node *node = *state;
    const struct probe_step steps[] = {step_on(7, "1"), step_on(8, "2")};
    struct berth_error err;
    double began_s = node->now_s, first_s;

    assert_int_equal(probe_open(&node->probe, &node->counters, &err), 0);
    assert_int_equal(probed(node, "1,2", steps, 2), 0);
    first_s = node->now_s;
    assert_true(first_s - began_s >= PROBE_LOOK_S);
    /* 100 times 50 ms: no more than one of a hundred */
    assert_true(probe_wait_s(node->probe, node->now_s) == 5);
    node->now_s += 5;
    assert_int_equal(probed(node, "1,2", steps, 2), 1);
    node->now_s += probe_wait_s(node->probe, node->now_s);
    assert_true(node->now_s - first_s > 10);
    assert_int_equal(probed(node, "1,2", steps, 2), 0); /* its turn again */
    node->now_s += 5;
    assert_int_equal(probed(node, "1,2", steps, 2), 1);
    node->now_s += 1; /* too early for anything */
    assert_int_equal(probe_begin(node->probe, node->now_s, steps, 2, &err), -1);
    assert_string_equal(err.text, "");
}

/* A look that is too old says nothing of the last second. */
static void test_looks_again(void **state)
{
    struct node *node = *state;
    const struct probe_step step = step_on(7, "1");
    struct berth_error err;

    assert_int_equal(probe_open(&node->probe, &node->counters, &err), 0);
    assert_int_equal(probe_begin(node->probe, node->now_s, &step, 1, &err), -1);
    node_stat(node, (unsigned[4]){0}, (unsigned[4]){9000, 9000, 9000, 9000});
    node->now_s += 60;
    assert_int_equal(probe_begin(node->probe, node->now_s, &step, 1, &err), -1);
    assert_string_equal(err.text, "");
    assert_true(probe_wait_s(node->probe, node->now_s) == PROBE_LOOK_S);
}

/* The reporter runs on CPU 0, beside a step that is on CPU 1; and briefly, as the CPU may be busy.
 */
static void need_cpu0(struct node *node)
{
    struct cpus here;

    cpus_zero(&here);
    assert_true(sched_getaffinity(0, sizeof(here.word), (cpu_set_t *)here.word) > -1);
    if (cpus_next(&here, 0) != 0) {
        print_message("the test may not run on CPU 0\n");
        skip();
    }
    node->conf.probe_time_ms = 8;
    node->topo->llcs = 1;
}

/* Probe until the reporter had its CPU for itself. */
static void probe_once(struct node *node, const struct probe_step *step, size_t n)
{
    struct probe_result result;
    struct berth_error err;
    struct pollfd ended = {.events = POLLIN};
    int rc = -1;

    for (int i = 0; rc < 0 && i < 100; i++) {
        node->now_s += 100;
        ended.fd = begin(node, n ? "1" : "", step, n, &err);
        if (ended.fd < 0)
            fail_msg("%s", err.text);
        poll(&ended, 1, 10000);
        rc = probe_end(node->probe, &result, &err);
        waitpid(-1, NULL, 0);
        if (rc < 0)
            usleep(20000); /* whoever was there may have gone then */
    }
    if (rc < 0) {
        print_message("no CPU to itself: %s\n", err.text);
        skip();
    }
    assert_int_equal(result.llc, 0);
    assert_int_equal(result.steps, n);
    assert_true(result.ratio > 0 && result.cpu_s > 0);
}

static void test_learns_a_step(void **state)
{
    struct node *node = *state;
    const struct probe_step step = step_on(7, "1");
    struct probe_estimate estimate;
    struct berth_error err;

    need_cpu0(node);
    assert_int_equal(probe_open(&node->probe, &node->counters, &err), 0);
    probe_once(node, &step, 1);
    assert_false(probe_estimate(node->probe, step.id, &estimate)); /* no reference yet */
    probe_once(node, NULL, 0);
    probe_once(node, &step, 1);
    assert_true(probe_estimate(node->probe, step.id, &estimate));
    assert_true(estimate.intensity >= 0);
    assert_int_equal(estimate.probes, 2);
    probe_forget(node->probe, step.id);
    assert_false(probe_estimate(node->probe, step.id, &estimate));
}

static void test_step_that_ends_meanwhile(void **state)
{
    struct node *node = *state;
    const struct probe_step step = step_on(7, "1");
    struct probe_result result;
    struct probe_estimate estimate;
    struct berth_error err;
    struct pollfd ended = {.events = POLLIN};

    need_cpu0(node);
    assert_int_equal(probe_open(&node->probe, &node->counters, &err), 0);
    probe_once(node, NULL, 0);
    node->now_s += 100;
    ended.fd = begin(node, "1", &step, 1, &err);
    assert_true(ended.fd >= 0);
    probe_forget(node->probe, step.id);
    poll(&ended, 1, 10000);
    assert_int_equal(probe_end(node->probe, &result, &err), -1);
    assert_false(probe_estimate(node->probe, step.id, &estimate));
    assert_int_equal(probe_end(node->probe, &result, &err), -1); /* there is none */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_idle_cpus),
                                       TEST(test_held_cpus),
                                       TEST(test_held_cpus_of_cgroup2),
                                       TEST(test_held_cpus_of_each_series),
                                       TEST(test_chooses_a_free_core),
                                       TEST(test_rank),
                                       TEST(test_is_off),
                                       TEST(test_where_it_does_not),
                                       TEST(test_takes_turns),
                                       TEST(test_looks_again),
                                       TEST(test_learns_a_step),
                                       TEST(test_step_that_ends_meanwhile)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
