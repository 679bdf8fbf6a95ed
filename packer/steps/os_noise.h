/* SPDX-License-Identifier: GPL-2.0-or-later */
/* os_noise - how often and for how long berthd is at work by itself, as measured on itself, and
 * what that costs a program that waits for the slowest of its nodes.
 *
 * Such a program has all cores, so that a burst of berthd lengthens the iteration in which it
 * begins, on its node; all nodes then wait for that one (Petrini, Kerbyson, Pakin, "The Case of the
 * Missing Supercomputer Performance", SC 2003). What requests of Slurm's and of people cost is no
 * part of this. */
#ifndef BERTH_STEPS_OS_NOISE_H
#define BERTH_STEPS_OS_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OS_NOISE_BINS 20 /* bursts by length: [i] up to 2^i microseconds, the last any longer */
#define OS_NOISE_HALF_S 300.0 /* what is told is of the last one to two of these */

struct os_noise_half {
    double since_s; /* CLOCK_MONOTONIC; 0: nothing was measured yet */
    uint64_t n[OS_NOISE_BINS];
    double run_s[OS_NOISE_BINS]; /* CPU time of all of them */
    double longest_s;
};

/* All zero: nothing was measured. */
struct os_noise {
    struct os_noise_half half[2]; /* [0] now, [1] before it */
};

/* One has ended at that time (CLOCK_MONOTONIC), and took so much CPU time. */
void os_noise_add(struct os_noise *noise, double at_s, double run_s);

struct os_noise_told {
    double seconds; /* that this is of; 0: nothing was measured */
    double per_s;   /* bursts a second */
    double core;    /* of one core, a fraction */
    double longest_s;
};

/* Sums up what was measured until at_s. */
struct os_noise_told os_noise_told(const struct os_noise *noise, double at_s);

/* Returns how many times as long a program of that many nodes (1 at least) takes whose iterations
 * last iteration_s (above 0), about: each node has such bursts, at any times or all at the same
 * ones (together). Of one iteration that is the expected longest burst of all nodes:
 * 1 + (1/T) * integral of 1 - exp(-N T rate(longer than x)) dx. 1 where nothing was measured. */
double os_noise_longer(const struct os_noise *noise, double at_s, size_t nodes, double iteration_s,
                       bool together);

#endif
