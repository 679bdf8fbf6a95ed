/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lockers - see lockers.h */
#include "tests/bench/lockers.h"

#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "tests/bench/bench.h"
#include "tests/unit/common/slices_now.h"

#define HOLD_S 300e-9
#define SETTLE_S 0.05
#define SAMPLES 2000

/* ---- the program ---- */

struct worker {
    pthread_t thread;
    _Alignas(64) atomic_ulong released;
    double waited_s;
};

static struct program {
    pthread_mutex_t lock;
    atomic_bool over, clocked;
    double delay_s;
    int n;
    struct worker worker[LOCKERS_MAX];
} program;

static void busy(double seconds)
{
    double until_s = clock_s() + seconds;

    while (clock_s() < until_s)
        ;
}

static void *work(void *arg)
{
    struct worker *worker = arg;

    while (!atomic_load_explicit(&program.over, memory_order_relaxed)) {
        bool clocked = atomic_load_explicit(&program.clocked, memory_order_relaxed);
        double asked_s = clocked ? clock_s() : 0;

        pthread_mutex_lock(&program.lock);
        if (clocked)
            worker->waited_s += clock_s() - asked_s;
        busy(HOLD_S);
        pthread_mutex_unlock(&program.lock);
        atomic_fetch_add_explicit(&worker->released, 1, memory_order_relaxed);
        busy(program.delay_s);
    }
    return NULL;
}

void lockers_begin(int n, double delay_s)
{
    pthread_mutexattr_t kind;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
    memset(&program, 0, sizeof(program));
    pthread_mutex_init(&program.lock, &kind);
    program.delay_s = delay_s;
    for (program.n = 0; program.n < n; program.n++) {
        struct worker *worker = &program.worker[program.n];
        int rc = pthread_create(&worker->thread, NULL, work, worker);

        if (rc != 0)
            bench_die("a thread", strerror(rc));
    }
}

void lockers_end(void)
{
    atomic_store(&program.over, true);
    for (int i = 0; i < program.n; i++)
        pthread_join(program.worker[i].thread, NULL);
}

/* ---- readings ---- */

struct reading {
    double at_s, released, preempted;
};

static struct reading read_now(void)
{
    struct reading now = {.at_s = clock_s()};
    struct rusage usage;

    for (int i = 0; i < program.n; i++)
        now.released += (double)atomic_load(&program.worker[i].released);
    getrusage(RUSAGE_SELF, &usage);
    now.preempted = (double)usage.ru_nivcsw;
    return now;
}

static void pause_s(double seconds)
{
    usleep((useconds_t)(seconds * 1e6));
}

double lockers_share(double seconds)
{
    double waited_s = 0, began_s = clock_s();

    atomic_store(&program.clocked, true);
    pause_s(seconds);
    atomic_store(&program.clocked, false);
    began_s = clock_s() - began_s;
    pause_s(SETTLE_S);
    for (int i = 0; i < program.n; i++)
        waited_s += program.worker[i].waited_s;
    return fmin(waited_s / (began_s * program.n), 1);
}

/* ---- settings ---- */

static void set(unsigned slice_ms, struct slices_seen *seen)
{
    const pid_t self = getpid();
    struct berth_error err;
    struct rootfs root;
    int rc;

    if (rootfs_open(&root, "/", &err) < 0)
        bench_die("/", err.text);
    rc = slice_ms ? slices_now(&root, 1, &self, SLICES_GIVE, slice_ms * 1000000ul, seen, &err)
                  : slices_now(&root, 1, &self, SLICES_TAKE, 0, seen, &err);
    rootfs_close(&root);
    if (rc < 0)
        bench_die("slices", err.text);
}

static void measure(struct lockers_trial *trial, size_t setting, int round, double seconds)
{
    struct reading before, after;

    set(trial->slice_ms[setting], &trial->seen[setting]);
    pause_s(SETTLE_S);
    before = read_now();
    pause_s(seconds);
    after = read_now();
    after.at_s -= before.at_s;
    trial->speed[setting][round] = (after.released - before.released) / after.at_s;
    trial->preempted[setting][round] = (after.preempted - before.preempted) / after.at_s;
}

void lockers_try(struct lockers_trial *trial, const struct lockers_options *options)
{
    struct slices_seen seen;

    for (int round = 0; round < options->rounds; round++) {
        for (size_t turn = 0; turn < trial->n; turn++)
            measure(trial, ((size_t)round + turn) % trial->n, round, options->seconds);
        for (size_t setting = 0; setting < trial->n; setting++)
            trial->ratio[setting][round] = trial->speed[setting][round] / trial->speed[0][round];
    }
    set(0, &seen);
}

/* ---- what the rounds say ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(const double *value, int n, double q)
{
    static double sorted[SAMPLES > LOCKERS_ROUNDS ? SAMPLES : LOCKERS_ROUNDS];

    memcpy(sorted, value, (size_t)n * sizeof(*sorted));
    qsort(sorted, (size_t)n, sizeof(*sorted), compare);
    return sorted[(int)lround(q * (n - 1))];
}

double lockers_median(const double *value, int n)
{
    return quantile(value, n, 0.5);
}

void lockers_interval(const double *value, int n, double *low, double *high)
{
    static double median[SAMPLES], drawn[LOCKERS_ROUNDS];

    srand48(1);
    for (int s = 0; s < SAMPLES; s++) {
        for (int i = 0; i < n; i++)
            drawn[i] = value[(int)(drand48() * n)];
        median[s] = quantile(drawn, n, 0.5);
    }
    *low = quantile(median, SAMPLES, 0.025);
    *high = quantile(median, SAMPLES, 0.975);
}

void lockers_print(const char *format, const double *value, int n)
{
    char text[3][32], all[112];
    double low, high;

    lockers_interval(value, n, &low, &high);
    snprintf(text[0], sizeof(text[0]), format, lockers_median(value, n));
    snprintf(text[1], sizeof(text[1]), format, low);
    snprintf(text[2], sizeof(text[2]), format, high);
    snprintf(all, sizeof(all), "%s (%s to %s)", text[0], text[1], text[2]);
    printf("  %-24s", all);
}

const char *lockers_slice(const struct slices_seen *seen, char text[16])
{
    if (!seen->slice_ns)
        return "-";
    snprintf(text, 16, "%.0f", (double)seen->slice_ns / 1e6);
    return text;
}

/* ---- arguments ---- */

const double lockers_delays_s[LOCKERS_DELAYS] = {0.3e-6, 3e-6, 30e-6};

bool lockers_asked(const struct lockers_options *options, size_t delay)
{
    return !(options->delay_us > 0) ||
           fabs(options->delay_us * 1e-6 / lockers_delays_s[delay] - 1) < 0.01;
}

static void pin(int cpus)
{
    cpu_set_t all, some;

    CPU_ZERO(&some);
    sched_getaffinity(0, sizeof(all), &all);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < cpus; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &some);
    if (CPU_COUNT(&some) < cpus || sched_setaffinity(0, sizeof(some), &some) < 0)
        bench_die("-c", "there are not so many CPUs");
}

static void read_args(struct lockers_options *options, const char *name, int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "c:d:r:t:")) != -1) {
        if (option == 'c')
            options->cpus = atoi(optarg);
        else if (option == 'd')
            options->delay_us = atof(optarg);
        else if (option == 'r')
            options->rounds = atoi(optarg);
        else if (option == 't')
            options->seconds = atof(optarg);
        else
            exit(2);
    }
    if (options->cpus < 1 || options->cpus * 4 > LOCKERS_MAX || options->rounds < 1 ||
        options->rounds > LOCKERS_ROUNDS || !(options->seconds > 0 && options->seconds < 100)) {
        fprintf(stderr, "usage: %s [-c CPUS] [-d 0.3|3|30] [-r ROUNDS] [-t SECONDS]\n", name);
        exit(2);
    }
}

void lockers_options(struct lockers_options *options, const char *name, int argc, char **argv)
{
    double load[3];

    read_args(options, name, argc, argv);
    pin(options->cpus);
    getloadavg(load, 3);
    printf("%d CPUs, %d rounds of %.2f s; load of the machine before: %.1f\n", options->cpus,
           options->rounds, options->seconds, load[0]);
}
