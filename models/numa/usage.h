/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage - what a program does with the processors it is given, as the resource-usage vector of
 * Pusukuri 2012 (sections 2.2 and 6.2, table 6.1): out of two samples of its counts.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_NUMA_USAGE_H
#define BERTH_MODELS_NUMA_USAGE_H

/* Counts of a whole program, which grow; NAN where one is not known. */
struct usage_sample {
    double at_s;
    double user_ns, system_ns; /* on a CPU, summed over threads */
    double run_delay_ns;       /* runnable, waiting for a CPU, summed over threads */
    double lock_wait_ns;       /* waiting for locks, summed over threads */
    double voluntary, involuntary, migrations;
    double llc_accesses, llc_misses;
};

/* NAN where it cannot be told. */
struct usage {
    double usr, sys; /* % of elapsed time that a thread spends in user mode, in the kernel */
    double lat;      /* % of elapsed time that a thread is ready, but waits for a CPU */
    double lock;     /* % of elapsed time that a thread waits for locks */
    double mpa;      /* misses per access of the last-level cache, 0..1 */
    double ct;       /* cores / threads */
    double vcx, icx; /* voluntary, involuntary context switches per second */
    double migr;     /* migrations per second */
    double cpu_util; /* % of elapsed time that a core is used by it */
};

/* Returns the vector of what happened between two samples, with that many threads (on average) and
 * cores. usr, sys, lat and lock are the mean of the threads, as prstat(1) gives them for a process;
 * what is missing to 100 is sleep. A count that fell is not known. */
struct usage usage_between(const struct usage_sample *from, const struct usage_sample *to,
                           double threads, double cores);

#endif
