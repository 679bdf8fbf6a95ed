/* SPDX-License-Identifier: GPL-2.0-or-later */
/* burst [-t THREADS] [-b BUSY] [-r BURSTS] - what the readings of a burst cost (inside/burst.h), of
 * a step with THREADS (64) threads, of which BUSY (8) compute and the others wake 20 times a
 * second.
 *
 * The step is a process of this machine, counted as berthd counts it here. Printed is the CPU time
 * of the reading thread while BURSTS (10) bursts last, in percent of a core: ten readings 100 and
 * 200 ms apart, of the step and of each thread; and what asking for bursts costs where no step has
 * a word that wants one. What counts waits for locks is on where this machine has it. */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/daemon/open.h"
#include "packer/daemon/pipeline.h"
#include "packer/inside/burst.h"
#include "tests/bench/bench.h"
#include "tests/unit/common/folder.h"

static char folder[] = "/tmp/berth-bench.XXXXXX";
static struct packer packer;

struct options {
    long threads, busy, bursts;
};

/* ---- the step ---- */

static void *work(void *arg)
{
    volatile double x = 1;

    for (;;)
        if (arg)
            x = x * 1.0000001 + 1e-9;
        else
            usleep(50000);
    return NULL;
}

static pid_t start(const struct options *options)
{
    pthread_attr_t small;
    pthread_t thread;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (long i = 1; i < options->threads; i++)
        if (pthread_create(&thread, &small, work, i < options->busy ? &packer : NULL) != 0)
            _exit(1);
    work(options->busy > 0 ? &packer : NULL);
    _exit(0);
}

static struct step *register_step(pid_t pid)
{
    struct wire_register request = {.id.job = 1,
                                    .cpus_per_task = 1,
                                    .ntasks = 1,
                                    .task = calloc(1, sizeof(*request.task)),
                                    .job_cores = "0",
                                    .step_cores = "0"};
    struct wire_answer answer = {0};

    if (!request.task)
        bench_die("registration", strerror(errno));
    request.task->pid = pid;
    wire_options_init(&request.options);
    request.options.mode = WIRE_MODE_AUTO;
    snprintf(request.node, sizeof(request.node), "bench");
    pipeline_start(&packer, &request, &answer);
    if (!answer.ok)
        bench_die("registration", answer.error);
    wire_answer_clear(&answer);
    return TAILQ_FIRST(&packer.steps->live);
}

/* ---- figures ---- */

/* A core's percent that one burst after another takes. */
static double cost(struct step *step, double interval_s, bool by_thread, long bursts,
                   size_t *threads)
{
    struct burst burst = {.n = 0};
    double began_s = clock_s(), began_ms = bench_cpu_ms(), ms;

    for (long i = 0; i < bursts; i++) {
        burst_begin(&packer, step, &burst,
                    &(struct burst_plan){.interval_s = interval_s, .by_thread = by_thread});
        if (!burst.running)
            bench_die("burst", "the step is not counted");
        while (burst.running) {
            usleep((useconds_t)(burst_due(&burst) * 1e6));
            burst_turn(&packer, step, &burst);
        }
    }
    ms = bench_cpu_ms() - began_ms;
    *threads = burst.thread.n;
    burst_end(&packer, &burst);
    return ms / 10 / (clock_s() - began_s);
}

static double cost_of_none(void)
{
    double began_ms = bench_cpu_ms();

    for (int i = 0; i < 100000; i++)
        pipeline_bursts(&packer);
    return (bench_cpu_ms() - began_ms) * 10; /* ns each */
}

static void print(const struct options *options, struct step *step)
{
    static const double interval_s[] = {0.1, 0.2};
    size_t threads;

    printf("a step of %ld threads, %ld busy; waits for locks %s\n", options->threads, options->busy,
           counters_locks(packer.state->counters) ? "are counted" : "are not counted here");
    printf("no word: %.0f ns for each window's end\n", cost_of_none());
    for (size_t i = 0; i < 2; i++)
        for (int by_thread = 0; by_thread < 2; by_thread++) {
            double percent = cost(step, interval_s[i], by_thread, options->bursts, &threads);

            printf("ten readings %3.0f ms apart, %-14s %.3f %% of a core", interval_s[i] * 1e3,
                   by_thread ? "by thread:" : "of the step:", percent);
            printf(by_thread ? " (%zu threads)\n" : "\n", threads);
            fflush(stdout);
        }
}

static void parse(struct options *options, int argc, char **argv)
{
    int option;

    *options = (struct options){.threads = 64, .busy = 8, .bursts = 10};
    while ((option = getopt(argc, argv, "t:b:r:")) != -1) {
        if (option == 't')
            options->threads = atol(optarg);
        else if (option == 'b')
            options->busy = atol(optarg);
        else if (option == 'r')
            options->bursts = atol(optarg);
        else
            exit(2);
    }
    if (options->threads < 1 || options->busy < 0 || options->bursts < 1) {
        fprintf(stderr, "usage: burst [-t THREADS] [-b BUSY] [-r BURSTS]\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    struct options options;
    struct berth_error err;
    struct step *step;
    struct conf conf;
    pid_t pid;

    parse(&options, argc, argv);
    pid = start(&options);
    bench_folder(folder);
    folder_make(folder, "pool");
    bench_conf(&conf, folder);
    strcpy(conf.counters, "perf,software");
    conf.lock_time = CONF_ON;
    conf.startup_ms = 0;
    if (packer_open(&packer, &conf, &err) < 0)
        bench_die("packer", err.text);
    step = register_step(pid);
    for (int i = 0; i < 30; i++) {
        pipeline_observe(&packer);
        usleep(100000);
    }
    print(&options, step);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    packer_close(&packer);
    return 0;
}
