/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faithful [-c CPUS] [-d DELAY] [-r ROUNDS] [-t SECONDS] - what FaithFul's slices do to a program
 * whose threads take turns with one lock (lockers.h).
 *
 * M threads on N CPUs (-c: how many; all). M is 95, 150 and 200 % of N, the delay 0.3, 3 and 30 us,
 * or one of them (-d). With and without the slice change places, ROUNDS (15) times, each for
 * SECONDS (0.3) after a pause; the slice is what the model says of the part of their time that the
 * threads waited for the lock in a run before. Printed are the medians of both, the ratio of each
 * pair's throughput as the median with its 95 % interval, and the involuntary context switches. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "models/inside/faithful.h"
#include "tests/bench/lockers.h"

static const double loads[] = {0.95, 1.5, 2.0};

static void print(const struct lockers_trial *trial, int n, double lock)
{
    double low, high;

    lockers_interval(trial->ratio[1], n, &low, &high);
    printf(" %6.2f %6u %6.0f %10.0f %10.0f  %.3f (%.3f to %.3f) %8.0f %8.0f\n", lock,
           trial->slice_ms[1], (double)trial->seen[1].slice_ns / 1e6,
           lockers_median(trial->speed[0], n), lockers_median(trial->speed[1], n),
           lockers_median(trial->ratio[1], n), low, high, lockers_median(trial->preempted[0], n),
           lockers_median(trial->preempted[1], n));
    fflush(stdout);
}

static void run(const struct lockers_options *options, double load, double delay_s)
{
    static struct lockers_trial trial;
    int threads = (int)fmax(lround(load * options->cpus), 1);
    double lock;

    lockers_begin(threads, delay_s);
    lock = lockers_share(options->seconds);
    trial.n = 2;
    trial.slice_ms[1] = faithful_quantum_ms(faithful_scaling(NAN, lock));
    lockers_try(&trial, options);
    lockers_end();
    printf("%4.0f %% %7d %8.1f", 100 * load, threads, delay_s * 1e6);
    print(&trial, options->rounds, lock);
}

int main(int argc, char **argv)
{
    struct lockers_options options = {
        .cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), .rounds = 15, .seconds = 0.3};

    lockers_options(&options, "faithful", argc, argv);
    printf("%6s %7s %8s %6s %6s %6s %10s %10s  %-23s %17s\n", "load", "threads", "delay us", "lock",
           "asked", "slice", "without/s", "with/s", "ratio", "preempted/s");
    for (size_t l = 0; l < sizeof(loads) / sizeof(loads[0]); l++)
        for (size_t d = 0; d < LOCKERS_DELAYS; d++)
            if (lockers_asked(&options, d))
                run(&options, loads[l], lockers_delays_s[d]);
    return 0;
}
