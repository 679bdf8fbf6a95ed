/* SPDX-License-Identifier: GPL-2.0-or-later */
/* throttle_run - a program of parallel loops under Adaptive Scheduling, event by event: what
 * throttling its threads costs, and how often and how long they rest (Porterfield 2012, section 3.1
 * and Tables 2 to 4).
 *
 * A loop is dealt in chunks. A thread that looks for its next chunk compares the threads that run
 * with the correct number, and rests if it is one too many. It is released when that number
 * rises, or the loop is completed; a loop ends when its last chunk is done, and the threads meet
 * there without those that rest. Threads that run draw from the memory together: where they ask for
 * more than its roof, each is slowed down alike.
 *
 * Every dt_s the daemon sees a utilisation: the next of the given samples while there are any, or,
 * without samples, the mean of what the program itself has drawn since the last. The state that
 * follows from it (saturation.h) sets the correct number (throttle.h). What throttling itself
 * takes, waking a thread and reading the state, is not modelled.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_TASKS_THROTTLE_RUN_H
#define BERTH_MODELS_TASKS_THROTTLE_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "models/tasks/saturation.h"

#define THROTTLE_RUN_THREADS_MAX 4096

struct throttle_loop {
    uint64_t chunks;  /* >= 1 */
    double work_s;    /* > 0: of one chunk, while the memory has room */
    double bandwidth; /* 0 .. : what a thread asks for meanwhile, as a part of the roof */
};

struct throttle_program {
    unsigned threads; /* 1 .. THROTTLE_RUN_THREADS_MAX */
    size_t n;         /* >= 1 */
    const struct throttle_loop *loop;
    uint64_t rounds; /* >= 1: how often the loops are gone through */
    struct saturation_rules rules;
    double dt_s;     /* > 0 */
    size_t nsamples; /* 0: what the program itself draws */
    const double
        *sample; /* [nsamples]: 0 .. 1 or above, or NAN; after the last all stays as it is */
};

struct throttle_outcome {
    uint64_t reduced;     /* how often the number of threads was */
    double seconds;       /* until the last loop has ended */
    double throttled_s;   /* of them with fewer threads than all */
    double idle_thread_s; /* that threads rested, all together */
};

/* Runs the program to its end. */
void throttle_run(const struct throttle_program *program, struct throttle_outcome *outcome);

#endif
