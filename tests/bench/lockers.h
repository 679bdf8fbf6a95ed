/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lockers - threads that take turns with one lock, under several time slices by turns: what the
 * benchmarks of policies inside a step compare.
 *
 * The threads take one global lock again and again, hold it for 300 ns and are busy for a delay
 * between: the micro-benchmark of Pusukuri 2012, section 5.3.2. The lock is a pthread mutex that
 * spins before it sleeps (PTHREAD_MUTEX_ADAPTIVE_NP), as that of the paper's machine did. Nothing
 * of berthd runs: the slices are given as it gives them. One set of threads at a time. */
#ifndef BERTH_BENCH_LOCKERS_H
#define BERTH_BENCH_LOCKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/enforce/slices.h"

#define LOCKERS_MAX 1024
#define LOCKERS_ROUNDS 1000
#define LOCKERS_SETTINGS 3

struct lockers_options {
    int cpus, rounds; /* CPUs that the threads may use */
    double seconds;   /* of each measurement */
    double delay_us;  /* this one only; 0: each of lockers_delays_s */
};

/* What threads do between two turns: in a run with each delay a program of another kind. */
#define LOCKERS_DELAYS 3
extern const double lockers_delays_s[LOCKERS_DELAYS]; /* 0.3, 3 and 30 us */

/* Says whether that delay is asked for. */
bool lockers_asked(const struct lockers_options *options, size_t delay);

/* Reads -c CPUS, -d DELAY_US, -r ROUNDS and -t SECONDS over what the options are before, keeps this
 * process to so many CPUs and prints both and the machine's load; ends the program where that
 * cannot be. */
void lockers_options(struct lockers_options *options, const char *name, int argc, char **argv);

/* Starts n threads, at most LOCKERS_MAX, that are busy for delay_s between two turns; ends them. */
void lockers_begin(int n, double delay_s);
void lockers_end(void);

/* Returns the part of their time that they wait for the lock, over so many seconds. */
double lockers_share(double seconds);

/* Some settings that change places: what each gave, round by round. */
struct lockers_trial {
    size_t n;                                           /* settings */
    unsigned slice_ms[LOCKERS_SETTINGS];                /* of SCHED_BATCH; 0: the default class */
    struct slices_seen seen[LOCKERS_SETTINGS];          /* as the kernel says of each */
    double speed[LOCKERS_SETTINGS][LOCKERS_ROUNDS];     /* turns with the lock per second */
    double preempted[LOCKERS_SETTINGS][LOCKERS_ROUNDS]; /* involuntary switches per second */
    double ratio[LOCKERS_SETTINGS]
                [LOCKERS_ROUNDS]; /* of speed to the first setting's, in a round */
};

/* Measures all settings in each round, after a pause, each beginning the round in its turn. Fills
 * in what the trial's n and slice_ms ask for. The default class is theirs at the end. */
void lockers_try(struct lockers_trial *trial, const struct lockers_options *options);

/* Returns the median of n values, at most LOCKERS_ROUNDS; the ends of its 95 % interval (2000
 * bootstrap samples). */
double lockers_median(const double *value, int n);
void lockers_interval(const double *value, int n, double *low, double *high);

/* Prints the median and its interval, each by the format of one number, in 26 columns. */
void lockers_print(const char *format, const double *value, int n);

/* Returns the slice of a setting in ms, as the kernel says, in text; "-": it has none. */
const char *lockers_slice(const struct slices_seen *seen, char text[16]);

#endif
