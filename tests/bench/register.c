/* SPDX-License-Identifier: GPL-2.0-or-later */
/* register [STEPS [ROUNDS [SAMPLES]]] - how long berthd takes to answer a registration, and its
 * memory, with STEPS (500) steps on a node of 192 cores and 24 caches. Run in the build folder.
 *
 * berthd runs for real, with its socket, journal and profile store in a folder of its own; only the
 * cgroup writes are left out (enforcement=dryrun: this machine has not 192 cores). Steps have one
 * task on one core each, random profiled miss rates, and more than one step shares a core. Each
 * round registers one more step of a new job and ends it again: both are timed from before
 * connect(2) to the whole answer.
 *
 * With SAMPLES, a file of samples (berthctl record), berthd plays it meanwhile: the steps have its
 * names for tags in turn, no profiles, and are counted once a second each. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/counters/recorded.h"
#include "packer/profiles/profiles.h"
#include "packer/wire/wire.h"
#include "tests/bench/bench.h"
#include "tests/bench/berthd.h"

#define PROFILES 32
#define NO_SUCH_PID                                                                                \
    4194304 /* above the kernel's greatest: the step's cores are taken from the message */

static char folder[] = "/tmp/berth-bench.XXXXXX";
static char samples[PATH_MAX]; /* "": none are played */
static struct recorded *recorded;

/* Miss rates from a few to 30000 per million instructions, evenly in the logarithm. */
static void store_profiles(const char *path)
{
    struct profile profile = {.llc_bytes = 32 << 20, .llc_ways = 16, .line_bytes = 64};
    struct profiles *store;
    struct berth_error err;
    char tag[16];

    if (profiles_open(&store, path, true, &err) < 0) {
        fprintf(stderr, "register: %s\n", err.text);
        exit(1);
    }
    for (int i = 0; i < PROFILES; i++) {
        snprintf(tag, sizeof(tag), "p%d", i);
        profile_key_tag(profile.key, tag);
        profile.misses = exp(log(3) + drand48() * log(10000));
        if (profiles_put(store, &profile, &err) < 0)
            exit(1);
    }
    profiles_close(store);
}

static pid_t daemon_start(void)
{
    char db[64], more[PATH_MAX + 128] = "sweep = 3600s\n";

    if (samples[0])
        snprintf(more, sizeof(more),
                 "sweep = 3600s\ncounters_replay = %s\nstartup = 0s\nlearn = off\n", samples);
    snprintf(db, sizeof(db), "%s/profiles.db", folder);
    store_profiles(db);
    return bench_berthd_start(folder, more);
}

/* ---- messages ---- */

static double start(uint32_t job)
{
    char tag[64];

    if (recorded)
        snprintf(tag, sizeof(tag), "%s", recorded_name(recorded, job % recorded_steps(recorded)));
    else
        snprintf(tag, sizeof(tag), "p%d", (int)(drand48() * PROFILES));
    return bench_register(job, tag, NO_SUCH_PID + (pid_t)job);
}

static double end(uint32_t job)
{
    struct wire_request request = {.op = WIRE_OP_END, .end = {.id.job = job, .user_s = 1}};

    return bench_ask(&request);
}

/* ---- figures ---- */

static void print_times(const char *what, double *us, size_t n)
{
    double median = array_median(us, n);

    printf("%s: median %.0f us, 99th percentile %.0f us, worst %.0f us (%zu)\n", what, median,
           us[n * 99 / 100], us[n - 1], n);
}

static void measure(pid_t daemon, uint32_t steps, size_t rounds)
{
    double *fill = calloc(steps, sizeof(*fill)), *starts = calloc(rounds, sizeof(*starts)),
           *ends = calloc(rounds, sizeof(*ends));

    double run[2], wait[2];

    if (!fill || !starts || !ends)
        bench_die("calloc", strerror(errno));
    for (uint32_t job = 0; job < steps; job++)
        fill[job] = start(job + 1);
    print_times("filling the node, a registration", fill, steps);
    bench_cpu_us(daemon, &run[0], &wait[0]);
    for (size_t i = 0; i < rounds; i++) {
        starts[i] = start(steps + 1 + (uint32_t)i);
        ends[i] = end(steps + 1 + (uint32_t)i);
    }
    bench_cpu_us(daemon, &run[1], &wait[1]);
    printf("with %u steps on %d cores:\n", steps, BENCH_CORES);
    print_times("  registration", starts, rounds);
    print_times("  end", ends, rounds);
    printf("  both together: %.0f us of CPU time, and %.0f us of waiting for a CPU, on average\n",
           (run[1] - run[0]) / (double)rounds, (wait[1] - wait[0]) / (double)rounds);
    printf("  berthd: %ld KiB resident, %ld KiB at most\n", bench_memory_kib(daemon, "VmRSS"),
           bench_memory_kib(daemon, "VmHWM"));
    free(fill);
    free(starts);
    free(ends);
}

static void read_samples(const char *path)
{
    struct berth_error err;

    if (!realpath(path, samples))
        bench_die(path, strerror(errno));
    if (recorded_read(&recorded, samples, &err) < 0) {
        fprintf(stderr, "register: %s\n", err.text);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 500, rounds = argc > 2 ? atol(argv[2]) : 2000;
    pid_t daemon;

    if (steps < 1 || rounds < 1) {
        fprintf(stderr, "usage: register [STEPS [ROUNDS [SAMPLES]]]\n");
        return 2;
    }
    if (argc > 3)
        read_samples(argv[3]);
    srand48(1);
    bench_folder(folder);
    daemon = daemon_start();
    measure(daemon, (uint32_t)steps, (size_t)rounds);
    bench_berthd_stop(daemon);
    recorded_free(recorded);
    return 0;
}
