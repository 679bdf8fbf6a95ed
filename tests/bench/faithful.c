/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faithful [-c CPUS] [-d DELAY] [-r ROUNDS] [-t SECONDS] - what FaithFul's slices do to a program
 * whose threads take turns with one lock (lockers.h).
 *
 * M threads on N CPUs (-c: how many; all). M is 95, 150 and 200 % of N, to the next whole thread
 * (so 95 % of two CPUs are two threads), the delay 0.3, 3 and 30 us, or one of them (-d). With and
 * without the slice change places, ROUNDS (15) times, each for SECONDS (0.3) after a pause; the
 * slice is what the model says of the part of their time that the threads waited for the lock in a
 * run before. Printed are the medians of both; and with their 95 % intervals the median of the
 * ratio of each pair's throughput, and the involuntary context switches per second of both. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "models/inside/faithful.h"
#include "tests/bench/lockers.h"

static const double loads[] = {0.95, 1.5, 2.0};

static void print(const struct lockers_trial *trial, int n, double lock)
{
    char slice[16];

    printf(" %6.2f %6u %6s %10.0f %10.0f", lock, trial->slice_ms[1],
           lockers_slice(&trial->seen[1], slice), lockers_median(trial->speed[0], n),
           lockers_median(trial->speed[1], n));
    lockers_print("%.3f", trial->ratio[1], n);
    lockers_print("%.0f", trial->preempted[0], n);
    lockers_print("%.0f", trial->preempted[1], n);
    putchar('\n');
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
    printf("%6s %7s %8s %6s %6s %6s %10s %10s  %-24s  %-24s  %-24s\n", "load", "threads",
           "delay us", "lock", "asked", "slice", "without/s", "with/s", "ratio",
           "preempted/s without", "with");
    for (size_t l = 0; l < sizeof(loads) / sizeof(loads[0]); l++)
        for (size_t d = 0; d < LOCKERS_DELAYS; d++)
            if (lockers_asked(&options, d))
                run(&options, loads[l], lockers_delays_s[d]);
    return 0;
}
