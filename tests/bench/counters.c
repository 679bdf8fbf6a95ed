/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters [-s STEPS] [-r ROUNDS] [-i MS] [-b BUSY] [-p PROCESSES] [-w] [-c LIST] - what reading
 * all counters of STEPS (200) steps costs, ROUNDS (40) times, MS (1000) milliseconds apart. As
 * root.
 *
 * The steps are real: each has PROCESSES (2) processes, in cgroups where a backend wants some, on
 * one CPU (-w: on all CPUs); BUSY (4) of the steps compute, the others sleep and wake now and then.
 * Every backend that works here is used, or those of LIST ("perf,software"); where the machine has
 * no PMU, perf's share is software events only, and this is said. A round is timed by the reading
 * thread's CPU time: what a core has to give for it, its system calls included. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/counters/counters.h"
#include "tests/bench/bench.h"

struct options {
    size_t steps, rounds, busy, processes;
    long pause_ms;
    bool wide;
    const char *backends;
};

struct bench {
    struct options options;
    struct rootfs root;
    struct topo *topo;
    struct enforce enforce;
    struct conf conf;
    struct counters *counters;
    struct enforce_task *task;      /* [steps] */
    struct enforce_step *step;      /* [steps] */
    struct counters_target *target; /* [steps] */
    struct counters_step **of;      /* [steps] */
    double *round_ms;               /* [rounds] */
    uint32_t known;                 /* counters that some sample had */
};

/* ---- the steps ---- */

static void work(bool busy)
{
    volatile double x = 1;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        if (busy)
            x = x * 1.0000001 + 1e-9;
        else
            usleep(500000);
}

/* A task and its children, in a process group of their own. */
static pid_t start(const struct options *options, size_t i)
{
    bool busy = i < options->busy;
    pid_t pid = fork();

    if (pid < 0)
        bench_die("fork", strerror(errno));
    if (pid > 0) {
        setpgid(pid, pid);
        return pid;
    }
    setpgid(0, 0);
    for (size_t n = 1; n < options->processes; n++)
        if (fork() == 0)
            work(busy);
    work(busy);
    _exit(0);
}

static size_t nth_cpu(const struct cpus *cpus, size_t n)
{
    size_t cpu = cpus_next(cpus, 0);

    for (n %= cpus_count(cpus); n > 0; n--)
        cpu = cpus_next(cpus, cpu + 1);
    return cpu;
}

static void start_steps(struct bench *bench)
{
    for (size_t i = 0; i < bench->options.steps; i++) {
        struct counters_target *target = &bench->target[i];

        bench->task[i].pid = start(&bench->options, i);
        bench->step[i] = (struct enforce_step){
            .id = {900000 + (uint32_t)i, 0}, .ntasks = 1, .task = &bench->task[i]};
        *target = (struct counters_target){.body = &bench->step[i], .name = "bench"};
        if (bench->options.wide)
            target->cpus = bench->topo->cpus;
        else
            cpus_add(&target->cpus, nth_cpu(&bench->topo->cpus, i));
        sched_setaffinity(bench->task[i].pid, sizeof(target->cpus.word),
                          (const cpu_set_t *)target->cpus.word);
        bench->task[i].cpus = bench->task[i].use = bench->task[i].home = target->cpus;
    }
    usleep(300000); /* the children are there */
}

static void stop_steps(struct bench *bench)
{
    for (size_t i = 0; i < bench->options.steps; i++)
        kill(-bench->task[i].pid, SIGKILL);
    while (wait(NULL) > 0)
        ;
    for (size_t i = 0; i < bench->options.steps; i++)
        counters_detach(bench->counters, bench->of[i]);
    counters_sweep(bench->counters, NULL, 0);
}

/* ---- figures ---- */

static void measure(struct bench *bench)
{
    const double start_s = clock_s();

    for (size_t round = 0; round < bench->options.rounds; round++) {
        struct counters_sample sample;
        double began;

        usleep((useconds_t)bench->options.pause_ms * 1000);
        began = bench_cpu_ms();
        for (size_t i = 0; i < bench->options.steps; i++) {
            bench->target[i].elapsed_s = clock_s() - start_s;
            counters_read(bench->counters, bench->of[i], &bench->target[i], &sample, NULL);
            bench->known |= sample.known;
        }
        bench->round_ms[round] = bench_cpu_ms() - began;
    }
}

static void print(const struct bench *bench)
{
    const struct options *options = &bench->options;
    double *ms = bench->round_ms, mean = 0, median, p99, first = bench->round_ms[0];
    struct counters_about about;

    for (size_t i = 0; counters_about(bench->counters, i, &about); i++)
        printf("%-9s %s: %s\n", about.name, about.used ? "used" : "not used", about.say);
    for (size_t i = 0; i < options->rounds; i++)
        mean += ms[i] / (double)options->rounds;
    median = array_median(ms, options->rounds);
    p99 = ms[(options->rounds * 99 + 99) / 100 - 1];
    printf("%zu steps of %zu processes, %zu busy, %s: %zu rounds\n", options->steps,
           options->processes, options->busy,
           options->wide ? "each on all CPUs" : "each on one CPU", options->rounds);
    printf("known:");
    for (int c = 0; c < COUNTERS; c++)
        if (bench->known & 1u << c)
            printf(" %s", counter_info[c].name);
    printf(
        "\na round, CPU time: median %.3f ms, mean %.3f ms, 99th percentile %.3f ms; the first one "
        "%.3f ms\n",
        median, mean, p99, first);
    printf(
        "once a second: %.3f %% of a core by the median, %.3f %% by the mean, %.3f %% by the 99th "
        "percentile\n",
        median / 10, mean / 10, p99 / 10);
}

/* ---- ---- */

static void parse(struct options *options, int argc, char **argv)
{
    int option;

    *options =
        (struct options){.steps = 200, .rounds = 40, .busy = 4, .processes = 2, .pause_ms = 1000};
    while ((option = getopt(argc, argv, "s:r:i:b:p:wc:")) != -1) {
        size_t number = optarg ? strtoul(optarg, NULL, 10) : 0;

        switch (option) {
        case 's':
            options->steps = number;
            break;
        case 'r':
            options->rounds = number;
            break;
        case 'i':
            options->pause_ms = (long)number;
            break;
        case 'b':
            options->busy = number;
            break;
        case 'p':
            options->processes = number;
            break;
        case 'w':
            options->wide = true;
            break;
        case 'c':
            options->backends = optarg;
            break;
        default:
            exit(2);
        }
    }
    if (options->steps == 0 || options->rounds == 0 || options->processes == 0)
        bench_die("arguments", "a number above 0 expected");
}

static void open_all(struct bench *bench)
{
    struct counters_node node = {
        .root = &bench->root, .enforce = &bench->enforce, .conf = &bench->conf};
    size_t n = bench->options.steps;
    struct berth_error err;

    conf_init(&bench->conf);
    if (bench->options.backends)
        snprintf(bench->conf.counters, sizeof(bench->conf.counters), "%s", bench->options.backends);
    if (rootfs_open(&bench->root, "/", &err) < 0 || topo_read(&bench->topo, "", &err) < 0 ||
        enforce_open(&bench->enforce, &bench->root, "/sys/fs/cgroup", "dryrun", &err) < 0)
        bench_die("this machine", err.text);
    strcpy(bench->enforce.tree, "berth-bench");
    bench->task = calloc(n, sizeof(*bench->task));
    bench->step = calloc(n, sizeof(*bench->step));
    bench->target = calloc(n, sizeof(*bench->target));
    bench->of = calloc(n, sizeof(struct counters_step *));
    bench->round_ms = calloc(bench->options.rounds, sizeof(*bench->round_ms));
    if (!bench->task || !bench->step || !bench->target || !bench->of || !bench->round_ms)
        bench_die("memory", strerror(errno));
    start_steps(bench); /* before the backends: the steps inherit nothing of them */
    node.topo = bench->topo;
    if (counters_open(&bench->counters, &node, &err) < 0)
        bench_die("counters", err.text);
    for (size_t i = 0; i < n; i++)
        bench->of[i] = counters_attach(bench->counters, &bench->target[i]);
}

int main(int argc, char **argv)
{
    static struct bench bench;

    parse(&bench.options, argc, argv);
    open_all(&bench);
    measure(&bench);
    print(&bench);
    stop_steps(&bench);
    counters_close(bench.counters);
    topo_free(bench.topo);
    rootfs_close(&bench.root);
    return 0;
}
