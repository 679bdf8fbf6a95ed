/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rates - what two readings of a step's counters say about the time between them: each rate is one
 * counter per another one, or per second, in the units that people and models use. */
#ifndef BERTH_COUNTERS_RATES_H
#define BERTH_COUNTERS_RATES_H

#include "models/online/phase.h"
#include "packer/counters/counters.h"

enum rate_id {
    RATE_MISS_PMI,     /* cache misses per 10^6 instructions: what DI ranks by */
    RATE_ACCESS_PMI,   /* cache accesses per 10^6 instructions */
    RATE_MISS_RATIO,   /* misses per access (mpa of Pusukuri 2012) */
    RATE_IPC,          /* instructions per cycle */
    RATE_STALLED,      /* of the cycles, those in which memory is waited for */
    RATE_REMOTE,       /* of the lines read, those from another node's memory */
    RATE_INSTRUCTIONS, /* per second, as all that follow */
    RATE_MISSES,
    RATE_BYTES,
    RATE_CPU,       /* CPU seconds: cores in use */
    RATE_USER,      /* in user space */
    RATE_SYSTEM,    /* and in the kernel */
    RATE_RUN_DELAY, /* seconds of waiting for a CPU, over all threads */
    RATE_LOCK_WAIT, /* and for locks */
    RATE_VOLUNTARY, /* context switches */
    RATE_INVOLUNTARY,
    RATE_MIGRATIONS,
    RATE_FAULTS,
    RATE_SWITCHES,   /* of both kinds */
    RATE_CYCLES_PMI, /* per 10^6 instructions, as the next two */
    RATE_STALLS_PMI,
    RATE_REMOTE_PMI, /* lines read from another node's memory */
    RATE_CORE_SPEED, /* instructions per CPU second */
    RATE_CLOCK,      /* cycles per ns of CPU time: GHz */
    RATE_OCCUPANCY,  /* bytes of cache held, mean of the windows' ends */
    RATE_RSS,        /* bytes resident, mean of the windows' ends */
    RATE_THREADS,    /* threads, mean of the windows' ends */
    RATES
};

struct rate_info {
    const char *name; /* "miss_pmi", as in JSON */
    const char *unit; /* for people: "per million instructions" */
    /* What it is made of: y / y_unit per x / x_unit, two counters; or per second; or, for a gauge,
     * its mean. */
    int y, x;
    double y_unit, x_unit;
};
extern const struct rate_info rate_info[RATES];

/* For phase_init: whose change begins a phase, and what difference is nothing. */
extern const uint32_t rates_watched;
extern const double rates_least[RATES];

/* The window between two samples of one step, later after earlier. A counter that one of them does
 * not know, or that fell, makes its rates unknown. */
void rates_window(const struct counters_sample *earlier, const struct counters_sample *later,
                  struct phase_window *window);

/* Returns a rate in the window; NAN not known. */
double rates_of(const struct phase_window *window, enum rate_id id);

/* Relative standard error of a rate for the multiplexing of its events, by the later sample. */
double rates_scaling(const struct counters_sample *sample, enum rate_id id);

#endif
