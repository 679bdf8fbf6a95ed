/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tranquil [-c CPUS] [-d DELAY] [-r ROUNDS] [-t SECONDS] - what Thread Tranquilizer's class and
 * slices (Pusukuri 2012, chapter 3) do to a program whose threads take turns with one lock
 * (lockers.h).
 *
 * Four threads for each CPU (-c: how many; 2), the delay 0.3, 3 and 30 us, or one of them (-d). The
 * default class, and SCHED_BATCH with the slice for programs that compute (20 ms) and with that for
 * programs that miss their cache (100 ms), change places, ROUNDS (15) times, each for SECONDS (0.5)
 * after a pause. Printed are the medians: the involuntary context switches per second, and the
 * throughput beside that of the default class in the same round; both with their 95 % intervals. */
#include <stdio.h>

#include "models/inside/tranquil.h"
#include "tests/bench/lockers.h"

#define THREADS 4 /* for each CPU */

static void print(const struct lockers_trial *trial, size_t i, int n)
{
    char slice[16];

    printf(" %7s %6s %10.0f", trial->slice_ms[i] ? "batch" : "default",
           lockers_slice(&trial->seen[i], slice), lockers_median(trial->speed[i], n));
    lockers_print("%.0f", trial->preempted[i], n);
    lockers_print("%.3f", trial->ratio[i], n);
    putchar('\n');
}

static void run(const struct lockers_options *options, double delay_s)
{
    static struct lockers_trial trial = {
        .n = 3, .slice_ms = {0, TRANQUIL_CPU_SLICE_MS, TRANQUIL_MEMORY_SLICE_MS}};
    int threads = THREADS * options->cpus;
    double lock;

    lockers_begin(threads, delay_s);
    lock = lockers_share(options->seconds);
    lockers_try(&trial, options);
    lockers_end();
    for (size_t i = 0; i < trial.n; i++) {
        printf("%7d %8.1f %5.2f", threads, delay_s * 1e6, lock);
        print(&trial, i, options->rounds);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct lockers_options options = {.cpus = 2, .rounds = 15, .seconds = 0.5};

    lockers_options(&options, "tranquil", argc, argv);
    printf("%7s %8s %5s %7s %6s %10s  %-24s  %-24s\n", "threads", "delay us", "lock", "class",
           "slice", "turns/s", "preempted/s", "throughput");
    for (size_t d = 0; d < LOCKERS_DELAYS; d++)
        if (lockers_asked(&options, d))
            run(&options, lockers_delays_s[d]);
    return 0;
}
