/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics [-s STEPS] [-t TASKS] [-r ROUNDS] [-p openmetrics|plain] - what the metrics' page of
 * STEPS (200) steps of TASKS (4) tasks each costs berthd's event loop, on a node of 192 cores and
 * 24 caches, ROUNDS (200) times: CPU time of the thread. With -p the page is printed instead.
 *
 * The steps are in the registry only, with everything known of them that can be. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/daemon/open.h"
#include "packer/metrics/node.h"
#include "packer/observe/window.h"
#include "tests/bench/bench.h"

static char folder[] = "/tmp/berth-bench.XXXXXX";
static struct packer packer;

static void open_packer(void)
{
    struct berth_error err = {""};
    struct conf conf;

    bench_folder(folder);
    bench_conf(&conf, folder);
    conf.metrics_steps = 2000;
    strcpy(conf.energy_model, "idle=40W,core=6W");
    strcpy(conf.topology, "package:4 l3:6 core:8 pu:1");
    if (packer_open(&packer, &conf, &err) < 0)
        bench_die("packer", err.text);
}

/* All that can be counted. */
static struct step_counts *counts_of(size_t i)
{
    struct step_counts *counts = calloc(1, sizeof(*counts));

    if (!counts)
        bench_die("memory", strerror(errno));
    for (enum counter c = 0; c < COUNTERS; c++)
        counters_set(&counts->last, c, 1e9 + 1e6 * (double)i + (double)c / 3);
    for (size_t r = 0; r < RATES; r++)
        for (size_t n = 0; n < 3; n++) {
            rate_add(&counts->phase.rate[r], 7, (double)(i + r + n));
            rate_add(&counts->alone[r], 1, 3e9);
            rate_add(&counts->beside[r], 1, 2.5e9 - (double)(i + n));
        }
    return counts;
}

static void put_step(size_t i, size_t ntasks)
{
    struct wire_register request = {.id = {(uint32_t)(100000 + i / 2), (uint32_t)(i % 2)},
                                    .uid = 1000 + i % 20,
                                    .ntasks = ntasks};
    struct step *step;
    char exe[64];

    wire_options_init(&request.options);
    request.task = calloc(ntasks, sizeof(*request.task));
    snprintf(exe, sizeof(exe), "/usr/bin/program%zu", i % 40);
    request.exe = exe;
    step = request.task ? registry_add(packer.steps, &request) : NULL;
    if (!step)
        bench_die("memory", strerror(errno));
    for (size_t t = 0; t < ntasks; t++) {
        cpus_add(&step->body.task[t].cpus, (i * ntasks + t) % BENCH_CORES);
        step->body.task[t].home = step->body.task[t].cpus;
    }
    step->counts = counts_of(i);
    snprintf(step->identity.is.account, sizeof(step->identity.is.account), "account%zu", i % 10);
    step->class.id = i % STEP_CLASSES;
    step->profile.known = true;
    step->profile.miss_pmi = 100.0 * (double)(i % 90) / 7;
    for (size_t d = 0; d < ENERGY_DOMAINS; d++) {
        step->bill.known[d] = true;
        step->bill.uj[d] = 123456789 * (i + d + 1);
    }
    step_go(step, STEP_PLACED);
}

static void measure(enum metrics_format format, const char *name, size_t rounds)
{
    double *ms = calloc(rounds, sizeof(*ms));
    size_t length = 0;
    double median;

    if (!ms)
        bench_die("memory", strerror(errno));
    for (size_t i = 0; i < rounds; i++) {
        double began = bench_cpu_ms();

        free(metrics_page(&packer, format, true, &length));
        ms[i] = bench_cpu_ms() - began;
    }
    median = array_median(ms, rounds);
    printf("%-12s %7zu bytes: median %.3f ms, 99th percentile %.3f ms, worst %.3f ms\n", name,
           length, median, ms[rounds * 99 / 100], ms[rounds - 1]);
    free(ms);
}

static void print(enum metrics_format format)
{
    size_t length;
    char *text = metrics_page(&packer, format, true, &length);

    if (!text || fwrite(text, 1, length, stdout) != length || fflush(stdout) != 0)
        bench_die("page", strerror(errno));
    free(text);
}

int main(int argc, char **argv)
{
    size_t steps = 200, tasks = 4, rounds = 200;
    const char *page = NULL;
    int option;

    while ((option = getopt(argc, argv, "s:t:r:p:")) != -1) {
        if (option == 'p')
            page = optarg;
        else if (option == '?' || strtoul(optarg, NULL, 10) == 0)
            return 2;
        else
            *(option == 's'   ? &steps
              : option == 't' ? &tasks
                              : &rounds) = strtoul(optarg, NULL, 10);
    }
    open_packer();
    for (size_t i = 0; i < steps; i++)
        put_step(i, tasks);
    if (page) {
        print(strcmp(page, "plain") == 0 ? METRICS_PLAIN : METRICS_OPENMETRICS);
    } else {
        printf("%zu steps of %zu tasks, %zu rounds\n", steps, tasks, rounds);
        measure(METRICS_OPENMETRICS, "OpenMetrics", rounds);
        measure(METRICS_PLAIN, "text 0.0.4", rounds);
    }
    packer_close(&packer);
    return 0;
}
