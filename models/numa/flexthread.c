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

    for (size_t cores = cores_min; cores <= cores_max; cores++) {
        double slowdown = flexthread_slowdown(threads, cores);

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
