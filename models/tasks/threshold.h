/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threshold - from how many tasks on a worker's queue is stolen from, and until when (Vikranth
 * 2018, section 3.4).
 *
 * A queue of S tasks makes its worker a victim, one of s tasks a thief:
 *
 *     S = C - lambda * T_push      (eq. 3.3)
 *     s = mu * T_pop               (eq. 3.4)
 *
 * With queues that take 100 ns and tasks of 10 us, lambda * T_push is .01: S is the capacity C and
 * s is 0. As printed, a queue becomes a victim when its size equals S and stays one until it equals
 * s: a size that jumps over S is missed, and a queue that others have nearly emptied is still
 * tried. Here it is a victim from S on, at least 2, and none below S / 2 or at s. `literal` is as
 * printed.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_TASKS_THRESHOLD_H
#define BERTH_MODELS_TASKS_THRESHOLD_H

#include <stdbool.h>
#include <stdint.h>

#define THRESHOLD_CAPACITY 2          /* C where nobody says otherwise */
#define THRESHOLD_CAPACITY_LITERAL 64 /* of a queue that is meant to become full */

struct threshold {
    int64_t victim; /* S */
    int64_t clear;  /* below this it is no victim any more */
    int64_t thief;  /* s */
    bool literal;
};

struct threshold_rates {
    double capacity;      /* C, tasks */
    double lambda_per_s;  /* tasks that come */
    double mu_per_s;      /* tasks that are run */
    double push_s, pop_s; /* T_push, T_pop */
};

/* Eq. 3.3 and 3.4, in whole tasks. */
struct threshold threshold_of(const struct threshold_rates *rates, bool literal);

/* Says whether a queue of that size is a victim, that was one or was none. */
static inline bool threshold_is_victim(const struct threshold *threshold, bool was, int64_t size)
{
    if (threshold->literal)
        return size == threshold->victim || (was && size != threshold->thief);
    return size >= threshold->victim ||
           (was && size >= threshold->clear && size > threshold->thief);
}

#endif
