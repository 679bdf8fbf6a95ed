/* SPDX-License-Identifier: GPL-2.0-or-later */
/* burst - readings of a step's counters, shortly after each other: ten for policies that ask how
 * even the program runs (Pusukuri 2012: each 100 ms in section 3.3, each 200 ms in 4.2), one for
 * who asks what it does in half a second (Wang 2015, section 7.4.2).
 *
 * The windows go on beside it. Only a step with such a policy is read, and only while its burst
 * lasts. Its threads are read where the policy wants that, when the burst begins and when it ends:
 * they count, so ten readings of them would add up to the same; and so is what it is billed of the
 * energy. */
#ifndef BERTH_INSIDE_BURST_H
#define BERTH_INSIDE_BURST_H

#include "models/online/phase.h"
#include "packer/counters/counters.h"
#include "packer/counters/rates.h"
#include "packer/counters/thread_times.h"
#include "packer/steps/packer.h"

#define BURST_READINGS 10
#define BURST_THREADS_SHARE 0.01 /* of a core, that reading its threads may take in a burst */

/* What a policy wants to know. */
struct burst_plan {
    double interval_s;
    size_t readings; /* at most BURST_READINGS; 0: so many */
    bool by_thread;  /* what each thread did */
    bool energy;     /* and what the step was billed */
};

struct burst { /* all zero: none */
    bool running;
    struct burst_plan plan;
    size_t n; /* intervals that were read */
    double next_s;
    struct counters_sample last;
    struct phase_window window[BURST_READINGS]; /* the rates between two readings, [n] */
    double began_s, seconds; /* CLOCK_MONOTONIC; how long it was, when it is over */
    uint64_t gaps;           /* of its bill, as it began, */
    double before_j;         /* and what it was billed by then */
    double joules; /* that it was billed in it, when it is over; NAN: not metered all the time */
    struct thread_list earlier; /* as it began */
    struct thread_list thread;  /* what each thread did in it, when it is over; by_thread only */
};

/* Returns the seconds between two readings of a burst that reads threads, which takes threads_s of
 * CPU time when it begins and as much when it ends: those of its plan, or more, so that a step of
 * thousands of threads costs no more of a core than one of few. */
double burst_interval_s(const struct burst_plan *plan, double threads_s);

/* Begins one, with its first reading. Nothing begins where nothing is counted of the step yet. */
void burst_begin(const struct packer *packer, struct step *step, struct burst *burst,
                 const struct burst_plan *plan);

/* Takes the next reading, if it is due. Returns true when that was the last one. A step that cannot
 * be read any more ends its burst without that. */
bool burst_turn(const struct packer *packer, struct step *step, struct burst *burst);

/* Nothing of it is needed any more: what it holds is given back. */
void burst_end(const struct packer *packer, struct burst *burst);

/* Returns the seconds until the next reading of a running one, >= 0. */
double burst_due(const struct burst *burst);

#endif
