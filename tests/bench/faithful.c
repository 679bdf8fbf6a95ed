/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faithful [-c CPUS] [-r ROUNDS] [-t SECONDS] - what FaithFul's slices do to a program whose
 * threads take turns with one lock: the micro-benchmark of Pusukuri 2012, section 5.3.2.
 *
 * M threads on N CPUs (-c: how many; all) take one global lock again and again, hold it for 300 ns
 * and are busy for a delay between. M is 95, 150 and 200 % of N, the delay 0.3, 3 and 30 us. With
 * and without the slice change places, ROUNDS (15) times, each for SECONDS (0.3) after a pause; the
 * slice is what the model says of the part of their time that the threads waited for the lock in a
 * run before. Printed are the medians of both, the ratio of each pair's throughput as the median
 * with its 95 % interval (2000 bootstrap samples), and the involuntary context switches.
 *
 * The lock is a pthread mutex that spins before it sleeps (PTHREAD_MUTEX_ADAPTIVE_NP), as that of
 * the paper's machine did. Nothing of berthd runs: the slices are given as it gives them. */
#include <errno.h>
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

#include "models/inside/faithful.h"
#include "packer/base/clock.h"
#include "packer/enforce/slices.h"
#include "tests/bench/bench.h"

#define HOLD_S 300e-9
#define SETTLE_S 0.05
#define SAMPLES 2000
#define ROUNDS_MAX 1000
#define THREADS_MAX 1024

static const double loads[] = {0.95, 1.5, 2.0};
static const double delays_s[] = {0.3e-6, 3e-6, 30e-6};

struct bench {
    int cpus, rounds;
    double seconds;
    struct rootfs root;
};

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
    struct worker worker[THREADS_MAX];
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

static void begin(int n, double delay_s)
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

static void end(void)
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

struct speed {
    double throughput, preempted; /* per second */
};

static struct speed measure(double seconds)
{
    struct reading before, after;

    usleep((useconds_t)(SETTLE_S * 1e6));
    before = read_now();
    usleep((useconds_t)(seconds * 1e6));
    after = read_now();
    after.at_s -= before.at_s;
    return (struct speed){(after.released - before.released) / after.at_s,
                          (after.preempted - before.preempted) / after.at_s};
}

/* Returns the part of their time that the threads wait for the lock. */
static double lock_share(double seconds)
{
    double waited_s = 0, began_s = clock_s();

    atomic_store(&program.clocked, true);
    usleep((useconds_t)(seconds * 1e6));
    atomic_store(&program.clocked, false);
    began_s = clock_s() - began_s;
    usleep((useconds_t)(SETTLE_S * 1e6));
    for (int i = 0; i < program.n; i++)
        waited_s += program.worker[i].waited_s;
    return fmin(waited_s / (began_s * program.n), 1);
}

static void slice(const struct bench *bench, unsigned quantum_ms, struct slices_seen *seen)
{
    const pid_t self = getpid();
    struct berth_error err;
    int rc = quantum_ms ? slices_give(&bench->root, 1, &self, quantum_ms * 1000000ul, seen, &err)
                        : slices_take(&bench->root, 1, &self, seen, &err);

    if (rc < 0)
        bench_die("slices", err.text);
}

/* ---- what the pairs say ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(const double *value, int n, double q)
{
    static double sorted[SAMPLES > ROUNDS_MAX ? SAMPLES : ROUNDS_MAX];

    memcpy(sorted, value, (size_t)n * sizeof(*sorted));
    qsort(sorted, (size_t)n, sizeof(*sorted), compare);
    return sorted[(int)lround(q * (n - 1))];
}

/* Fills in the ends of the 95 % interval of the median. */
static void interval(const double *value, int n, double *low, double *high)
{
    static double median[SAMPLES], drawn[ROUNDS_MAX];

    srand48(1);
    for (int s = 0; s < SAMPLES; s++) {
        for (int i = 0; i < n; i++)
            drawn[i] = value[(int)(drand48() * n)];
        median[s] = quantile(drawn, n, 0.5);
    }
    *low = quantile(median, SAMPLES, 0.025);
    *high = quantile(median, SAMPLES, 0.975);
}

struct pairs {
    double speed[2][ROUNDS_MAX], preempted[2][ROUNDS_MAX], ratio[ROUNDS_MAX]; /* [1] with */
};

static void print(const struct bench *bench, double load, double delay_s, double lock,
                  unsigned asked_ms, const struct slices_seen *seen, const struct pairs *pairs)
{
    double low, high;
    int n = bench->rounds;

    interval(pairs->ratio, n, &low, &high);
    printf("%4.0f %% %7d %8.1f %6.2f %6u %6.0f %10.0f %10.0f  %.3f (%.3f to %.3f) %8.0f %8.0f\n",
           100 * load, program.n, delay_s * 1e6, lock, asked_ms, (double)seen->slice_ns / 1e6,
           quantile(pairs->speed[0], n, 0.5), quantile(pairs->speed[1], n, 0.5),
           quantile(pairs->ratio, n, 0.5), low, high, quantile(pairs->preempted[0], n, 0.5),
           quantile(pairs->preempted[1], n, 0.5));
    fflush(stdout);
}

static void run(const struct bench *bench, double load, double delay_s)
{
    static struct pairs pairs;
    struct slices_seen seen, given = {0};
    unsigned asked_ms;
    double lock;

    begin((int)fmax(lround(load * bench->cpus), 1), delay_s);
    lock = lock_share(bench->seconds);
    asked_ms = faithful_quantum_ms(faithful_scaling(NAN, lock));
    for (int round = 0; round < bench->rounds; round++) {
        for (int half = 0; half < 2; half++) {
            int with = (round + half) % 2;
            struct speed speed;

            slice(bench, with ? asked_ms : 0, with ? &given : &seen);
            speed = measure(bench->seconds);
            pairs.speed[with][round] = speed.throughput;
            pairs.preempted[with][round] = speed.preempted;
        }
        pairs.ratio[round] = pairs.speed[1][round] / pairs.speed[0][round];
    }
    print(bench, load, delay_s, lock, asked_ms, &given, &pairs);
    slice(bench, 0, &seen);
    end();
}

/* ---- arguments ---- */

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

static void read_args(struct bench *bench, int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "c:r:t:")) != -1) {
        if (option == 'c')
            bench->cpus = atoi(optarg);
        else if (option == 'r')
            bench->rounds = atoi(optarg);
        else if (option == 't')
            bench->seconds = atof(optarg);
        else
            exit(2);
    }
    if (bench->cpus < 1 || bench->cpus * 2 > THREADS_MAX || bench->rounds < 1 ||
        bench->rounds > ROUNDS_MAX || !(bench->seconds > 0 && bench->seconds < 100)) {
        fprintf(stderr, "usage: faithful [-c CPUS] [-r ROUNDS] [-t SECONDS]\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    struct bench bench = {.cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), .rounds = 15, .seconds = 0.3};
    struct berth_error err;
    double load[3];

    read_args(&bench, argc, argv);
    pin(bench.cpus);
    if (rootfs_open(&bench.root, "/", &err) < 0)
        bench_die("/", err.text);
    getloadavg(load, 3);
    printf("%d CPUs, %d rounds of %.2f s; load of the machine before: %.1f\n", bench.cpus,
           bench.rounds, bench.seconds, load[0]);
    printf("%6s %7s %8s %6s %6s %6s %10s %10s  %-23s %17s\n", "load", "threads", "delay us", "lock",
           "asked", "slice", "without/s", "with/s", "ratio", "preempted/s");
    for (size_t l = 0; l < sizeof(loads) / sizeof(loads[0]); l++)
        for (size_t d = 0; d < sizeof(delays_s) / sizeof(delays_s[0]); d++)
            run(&bench, loads[l], delays_s[d]);
    rootfs_close(&bench.root);
    return 0;
}
