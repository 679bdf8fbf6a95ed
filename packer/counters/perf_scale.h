/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_scale - what an event would have counted, had it been counted all the time.
 *
 * Events that a PMU has no counters for at once take turns: of enabled_ns, in which the step ran on
 * the CPU, an event was counted for running_ns only. In each window, the time between two reads,
 * its rate is taken to be that of the time it was counted; so a program whose phases are longer
 * than the windows is estimated phase by phase.
 *
 * The error. The kernel's turns are short against a window. Were they independent draws from the
 * program's rates, with m of them counted in a window, then the windows' rates x would vary by
 * s^2 = sigma^2 / m, and the part that was not counted, enabled - running, would add
 * enabled (enabled - running) s^2 to the variance of a window's estimate (sampling without
 * replacement: Cochran, Sampling Techniques, 1977, ch. 2). s^2 is half the mean squared difference
 * of successive rates (von Neumann 1941), which a slow drift does not enlarge; faster changes of
 * the program do, so that the error is stated too large then, not too small. Before there are three
 * windows, turns are taken to vary as much as their mean: s^2 = x^2 / m. */
#ifndef BERTH_COUNTERS_PERF_SCALE_H
#define BERTH_COUNTERS_PERF_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/* How long a turn is: the kernel's default of perf_event_mux_interval_ms. */
#define PERF_TURN_NS 4e6

/* One event on one CPU. All zero at first. */
struct perf_scale {
    uint64_t count, enabled_ns, running_ns; /* as they were read last */
    unsigned windows;                       /* in which it was counted */
    double value;                           /* of all windows */
    double rate;                            /* in the last one, per ns */
    double weight_ns2;  /* sum of enabled (enabled - running): variance in units of s^2 */
    double differences; /* sum of the squared differences of successive rates, per ns^2 */
    double prior;       /* the variance as it is taken before there are three windows */
    double covered_ns;  /* enabled time of the windows */
    double open_ns;     /* and since then: in it, it had no turn yet */
};

/* A sum over events and CPUs. All zero at first. */
struct perf_estimate {
    double value, variance;
    double covered_ns, open_ns;
};

/* A window ends: the event's count and times as the kernel gives them, all since it was opened. A
 * window in which it had no turn is lengthened until it has one: so counts never fall. */
void perf_scale_add(struct perf_scale *scale, uint64_t count, uint64_t enabled_ns,
                    uint64_t running_ns);

/* Add what it counted in its windows to a sum. */
void perf_estimate_add(struct perf_estimate *sum, const struct perf_scale *scale);

/* Add one sum to another. */
void perf_estimate_join(struct perf_estimate *sum, const struct perf_estimate *other);

/* Is it a measurement? It is none while more time is open than covered. */
bool perf_estimate_known(const struct perf_estimate *sum);

/* Its relative standard error; 0: exact. */
double perf_estimate_error(const struct perf_estimate *sum);

#endif
