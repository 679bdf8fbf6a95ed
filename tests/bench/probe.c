/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe [ROUNDS [CPU-OF-THE-PROGRAM CPU-OF-THE-REPORTER [PROBE-MS]]] - how the interference probe
 * ranks programs of graded memory intensity, and what it costs. Run in the build folder.
 *
 * In each of ROUNDS (20) rounds every program runs once on the first CPU (0), and a reporter times
 * its memory accesses beside it on the second (1), and once more beside nothing. The programs are
 * listed from the least intensive to the most; how well the intensities have that order is
 * Spearman's rank correlation. A reporter that did not have its CPU for itself is tried again: the
 * machine should be quiet. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/cpus.h"
#include "packer/machine/topo.h"
#include "packer/interference/child.h"
#include "packer/interference/estimate.h"
#include "tests/bench/bench.h"

#define TRIES 3000
#define START_US 200000 /* until a program is at its work */

#define FOLDER "tests/fixtures/programs/"
#define FOREVER "1000000"
static const struct {
    const char *name;
    const char *argv[5];
} programs[] = {
    {"nothing", {NULL}},
    {"turtle", {FOLDER "turtle", "100000000"}},
    {"graded 512", {FOLDER "graded", "512", "64", FOREVER}},
    {"graded 128", {FOLDER "graded", "128", "64", FOREVER}},
    {"graded 32", {FOLDER "graded", "32", "64", FOREVER}},
    {"graded 8", {FOLDER "graded", "8", "64", FOREVER}},
    {"devil", {FOLDER "devil", "64", FOREVER}},
};
#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static pid_t start(size_t i, size_t cpu)
{
    struct cpus cpus;
    pid_t pid = -1;

    if (!programs[i].argv[0])
        return 0;
    cpus_zero(&cpus);
    cpus_add(&cpus, cpu);
    pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (sched_setaffinity(0, sizeof(cpus.word), (const cpu_set_t *)cpus.word) == 0)
        execv(programs[i].argv[0], (char *const *)programs[i].argv);
    perror(programs[i].argv[0]);
    _exit(1);
}

static void stop(pid_t pid)
{
    if (pid <= 0)
        return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* One good report; *cpu_s grows by what all tries took. */
static double report(const struct probe_child_task *task, double *cpu_s, unsigned *tries)
{
    struct probe_child_result result;
    struct probe_child reporter;
    struct berth_error err = {""};
    struct pollfd ended = {.events = POLLIN};
    int rc;

    for (int i = 0; i < TRIES; i++) {
        if (probe_child_start(&reporter, task, &err) < 0)
            bench_die("start", err.text);
        ended.fd = reporter.fd;
        poll(&ended, 1, (int)(2 * task->time_ms));
        rc = probe_child_finish(&reporter, &result, &err);
        while (!probe_child_gone(&reporter))
            usleep(1000);
        if (rc == 0) {
            *cpu_s += result.cpu_s;
            ++*tries;
            return result.access_ns / result.op_ns;
        }
        usleep(20000);
    }
    bench_die("no report", err.text);
    return NAN;
}

/* The set of program i: a step of that number, or nobody. */
static struct probe_set set_of(size_t i)
{
    struct probe_set set = {.steps = 0};

    if (i > 0)
        probe_set_add(&set, (struct wire_step_id){(uint32_t)i, 0});
    return set;
}

/* 1 - 6 sum d^2 / n (n^2 - 1), the programs' order beside that of their intensities. */
static double spearman(const double *value, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        double rank = 0;

        for (size_t j = 0; j < n; j++)
            rank += value[j] < value[i] ? 1 : value[j] == value[i] && j != i ? .5 : 0;
        sum += (rank - (double)i) * (rank - (double)i);
    }
    return 1 - 6 * sum / ((double)n * ((double)n * (double)n - 1));
}

static void print(const struct probe_history *history, const struct probe_child_task *task,
                  double cpu_s, unsigned reports)
{
    double value[PROGRAMS];

    printf("%-12s %10s %10s %7s\n", "program", "intensity", "error", "probes");
    for (size_t i = 1; i < PROGRAMS; i++) {
        struct probe_estimate estimate = {.intensity = NAN};

        probe_history_estimate(history, (struct wire_step_id){(uint32_t)i, 0}, &estimate);
        printf("%-12s %10.3f %10.3f %7u\n", programs[i].name, estimate.intensity, estimate.error,
               estimate.probes);
        value[i - 1] = estimate.intensity;
    }
    printf("Spearman: %.2f\n", spearman(value, PROGRAMS - 1));
    printf("a probe of %u ms with %zu MiB: %.1f ms of CPU time, every 30 s %.3f %% of a core\n",
           task->time_ms, task->bytes >> 20, cpu_s / reports * 1e3, cpu_s / reports / 30 * 100);
}

static unsigned argument(int argc, char **argv, int which, unsigned by_default)
{
    return argc > which ? (unsigned)strtoul(argv[which], NULL, 10) : by_default;
}

int main(int argc, char **argv)
{
    unsigned rounds = argument(argc, argv, 1, 20), cpu = argument(argc, argv, 2, 0), reports = 0;
    struct probe_child_task task = {.cpu = argument(argc, argv, 3, 1),
                                    .time_ms = argument(argc, argv, 4, 20)};
    struct probe_history *history = probe_history_new();
    struct berth_error err;
    struct topo *topo;
    double cpu_s = 0;

    if (!history || topo_read(&topo, NULL, &err) < 0)
        bench_die("topology", history ? err.text : strerror(ENOMEM));
    task.bytes = probe_child_bytes(topo->llc[0].size_bytes);
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < PROGRAMS; i++) {
            struct probe_set set = set_of(i);
            pid_t pid = start(i, cpu);

            usleep(START_US);
            if (probe_history_add(history, topo->llc[0].size_bytes, &set,
                                  report(&task, &cpu_s, &reports), &err) < 0)
                bench_die("result", err.text);
            stop(pid);
        }
    print(history, &task, cpu_s, reports);
    probe_history_free(history);
    topo_free(topo);
    return 0;
}
