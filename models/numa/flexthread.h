/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flexthread - how many threads to create so that they run well on whatever cores they get (Wang
 * 2015, section 6.6): enough of them to spread evenly over any number of cores, few enough that
 * synchronising them costs little.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_NUMA_FLEXTHREAD_H
#define BERTH_MODELS_NUMA_FLEXTHREAD_H

#include <stddef.h>

#define FLEXTHREAD_CORES_MAX 65536
#define FLEXTHREAD_THREADS_MAX 1048576

struct flexthread {
    size_t cores_min, cores_max; /* the threads may get any number of cores between; 1 <= min <= max
                                    <= FLEXTHREAD_CORES_MAX */
    double imbalance;            /* wanted: slow-down by uneven load at most, a fraction >= 0 */
    double overhead;             /* wanted: time spent synchronising less than that, 0 < .. <= 1 */
    double sync_hz;              /* synchronisations per second of one thread (f), >= 0 */
    double memory_ns, syscall_ns; /* what a synchronisation takes: an update of memory (T_mem) and a
                                     suspending system call (T_syscall), >= 0 */
};

/* Returns the fraction by which t threads on c cores take longer than c threads would, for their
 * uneven load: ceil(t/c) * c / t - 1 (eq. 6.4). t, c >= 1. */
double flexthread_slowdown(size_t threads, size_t cores);

/* Returns the greatest of these for cores_min .. cores_max cores (eq. 6.5), and in *worst (NULL:
 * not asked) the fewest cores that have it. */
double flexthread_slowdown_max(size_t threads, size_t cores_min, size_t cores_max, size_t *worst);

/* Returns the seconds that a core of `cores` spends on synchronisation per second (eq. 6.7). */
double flexthread_overhead(const struct flexthread *wanted, size_t threads, size_t cores);

/* Returns the least count whose slowdown_max is within wanted->imbalance; 0: more than
 * FLEXTHREAD_THREADS_MAX. (More threads are not always better: 8 threads share 4 cores evenly, 9 do
 * not.) */
size_t flexthread_min(const struct flexthread *wanted);

/* Returns the greatest count whose overhead is below wanted->overhead on each number of cores
 * (eq. 6.8), at most FLEXTHREAD_THREADS_MAX. 0: not even one thread. */
size_t flexthread_max(const struct flexthread *wanted);

/* What cannot be told from chance: "external interference can cause at least 3% fluctuation"
 * (section 6.6.1). */
#define FLEXTHREAD_NOISE 0.03

/* Returns the count to create: flexthread_min where that is no more than flexthread_max. Where no
 * count keeps both bounds, as in the paper's example of 32 cores (section 6.6.3: at least 8 cores,
 * 5 % each, t_max 272, where eq. 6.5 asks for 400), the paper takes 256, for what it has measured:
 * there the sum of both losses decides, slowdown_max + overhead on cores_min cores, over all counts
 * up to flexthread_max. Counts whose sum is within `noise` (a fraction >= 0) of the least cannot be
 * told apart, and the one that can be halved most often is taken, as many programs divide their
 * work by powers of two only (section 6.8); of several, the least. 0: not even one thread costs so
 * little. */
size_t flexthread_count(const struct flexthread *wanted, double noise);

#endif
