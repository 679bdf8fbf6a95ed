/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/numa/flexthread.h"

#include <math.h>
#include <stdbool.h>

/* Eq. 6.2. */
static size_t threads_of_core(size_t threads, size_t cores)
{
    return (threads - 1) / cores + 1;
}

double flexthread_slowdown(size_t threads, size_t cores)
{
    size_t spare = threads_of_core(threads, cores) * cores - threads;

    return (double)spare / (double)threads;
}

double flexthread_slowdown_max(size_t threads, size_t cores_min, size_t cores_max, size_t *worst)
{
    double max = -1;

    /* Of numbers of cores that have as many threads on the fullest one, the greatest is the worst.
     */
    for (size_t cores = cores_min; cores <= cores_max; cores++) {
        size_t of_core = threads_of_core(threads, cores);
        double slowdown;

        if (of_core == 1 || (threads - 1) / (of_core - 1) > cores_max)
            cores = cores_max;
        else
            cores = (threads - 1) / (of_core - 1);
        slowdown = flexthread_slowdown(threads, cores);
        if (slowdown <= max)
            continue;
        max = slowdown;
        if (worst)
            *worst = cores;
    }
    return max;
}

/* Returns the seconds per second that each thread of a core adds. */
static double overhead_each(const struct flexthread *wanted)
{
    return wanted->sync_hz * (wanted->memory_ns + wanted->syscall_ns) * 1e-9;
}

double flexthread_overhead(const struct flexthread *wanted, size_t threads, size_t cores)
{
    return (double)threads_of_core(threads, cores) * overhead_each(wanted);
}

/* Returns whether some number of cores is too uneven for the threads. *cores is tried first, and is
 * the one found: what was bad for t threads is mostly bad for t + 1. */
static bool uneven(const struct flexthread *wanted, size_t threads, size_t *cores)
{
    if (flexthread_slowdown(threads, *cores) > wanted->imbalance)
        return true;
    for (size_t c = wanted->cores_max; c >= wanted->cores_min; c--)
        if (flexthread_slowdown(threads, c) > wanted->imbalance) {
            *cores = c;
            return true;
        }
    return false;
}

size_t flexthread_min(const struct flexthread *wanted)
{
    size_t cores = wanted->cores_max, threads = 1;

    while (threads <= FLEXTHREAD_THREADS_MAX && uneven(wanted, threads, &cores))
        threads++;
    return threads <= FLEXTHREAD_THREADS_MAX ? threads : 0;
}

size_t flexthread_max(const struct flexthread *wanted)
{
    double each = overhead_each(wanted);
    size_t of_core = FLEXTHREAD_THREADS_MAX;

    if (each > 0 && wanted->overhead / each < (double)of_core)
        of_core = (size_t)ceil(wanted->overhead / each);
    while (of_core > 0 && !((double)of_core * each < wanted->overhead))
        of_core--; /* strictly less */
    return of_core > FLEXTHREAD_THREADS_MAX / wanted->cores_min ? FLEXTHREAD_THREADS_MAX
                                                                : of_core * wanted->cores_min;
}

/* Returns what a count costs by both, at the worst number of cores each. */
static double loss(const struct flexthread *wanted, size_t threads)
{
    return flexthread_slowdown_max(threads, wanted->cores_min, wanted->cores_max, NULL) +
           flexthread_overhead(wanted, threads, wanted->cores_min);
}

static double least_loss(const struct flexthread *wanted, size_t most)
{
    size_t cores = wanted->cores_max;
    double least = INFINITY;

    for (size_t threads = most; threads > 0; threads--) {
        /* What was bad for t is mostly bad for t - 1: one number of cores says that it cannot be
         * less. */
        if (flexthread_slowdown(threads, cores) >= least)
            continue;
        least = fmin(least, loss(wanted, threads));
        flexthread_slowdown_max(threads, wanted->cores_min, wanted->cores_max, &cores);
    }
    return least;
}

size_t flexthread_count(const struct flexthread *wanted, double noise)
{
    size_t min = flexthread_min(wanted), max = flexthread_max(wanted), part = 1;
    double least;

    if (max == 0 || (min > 0 && min <= max))
        return max ? min : 0;
    least = least_loss(wanted, max);
    while (part <= max / 2)
        part *= 2;
    for (; part > 0; part /= 2) /* multiples of it, and not of twice as much, which were no good */
        for (size_t threads = part; threads <= max; threads += 2 * part)
            if (loss(wanted, threads) <= least + noise)
                return threads;
    return 0;
}
