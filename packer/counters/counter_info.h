/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counter_info - which counters there are, and what each is called. */
#ifndef BERTH_COUNTERS_COUNTER_INFO_H
#define BERTH_COUNTERS_COUNTER_INFO_H

#include <stdbool.h>

/* Counts since the step was attached, which never fall, and levels (a gauge: as it is now). */
enum counter {
    COUNTER_INSTRUCTIONS,
    COUNTER_CYCLES,
    COUNTER_STALLS,       /* cycles in which nothing retired for want of memory */
    COUNTER_LLC_ACCESSES, /* demand accesses that reached the last-level cache */
    COUNTER_LLC_MISSES,   /* lines that the last-level cache did not have, prefetches with them */
    COUNTER_READS_LOCAL,  /* lines read from the memory of the own NUMA node */
    COUNTER_READS_REMOTE, /* and from that of others */
    COUNTER_BYTES_LOCAL,  /* memory traffic of the own package, bytes */
    COUNTER_BYTES,        /* memory traffic, bytes */
    COUNTER_CPU_NS,       /* time on a CPU */
    COUNTER_USER_NS,      /* of it in user space */
    COUNTER_SYSTEM_NS,    /* and in the kernel */
    COUNTER_RUN_DELAY_NS, /* runnable, waiting for a CPU; summed over threads */
    COUNTER_LOCK_WAIT_NS, /* waiting for a futex; summed over threads */
    COUNTER_SWITCHES,     /* context switches of both kinds */
    COUNTER_VOLUNTARY,    /* of them: it waited for something */
    COUNTER_INVOLUNTARY,  /* and: it was preempted */
    COUNTER_MIGRATIONS,   /* a thread went on on another CPU */
    COUNTER_FAULTS,       /* page faults, minor and major */
    COUNTER_THREADS,      /* gauge */
    COUNTER_RSS_BYTES,    /* gauge: resident memory */
    COUNTER_OCCUPANCY_BYTES, /* gauge: what it holds of the last-level caches */
    COUNTERS
};

struct counter_info {
    const char *name; /* as in JSON and in files of samples: "instructions" */
    const char *unit; /* "" a plain number, "ns", "bytes" */
    bool gauge;
};
extern const struct counter_info counter_info[COUNTERS];

/* The counter of that name, or -1. */
int counter_by_name(const char *name);

#endif
