/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faithful - FaithFul scheduling (Pusukuri 2012, chapter 5; models/inside/faithful.h): one time
 * slice for all threads of a step, the longer the more they wait for locks or memory.
 *
 * It is for steps whose threads wait for CPUs: elsewhere nobody is preempted, and a slice changes
 * nothing. Lock share: time in futex(2), by thread; where that is not counted, the miss ratio
 * alone decides, and the other way round. */
#include <math.h>

#include "packer/counters/rates.h"
#include "packer/inside/policy.h"

/* Of the time in which its threads could run they wait so much for a CPU: there are, at times, more
 * of them than CPUs. One of 20, since who wakes waits a moment in any case. */
#define WAITING 0.05

/* ADAPT wants it, too, where programs share cores. */
static bool asked(const struct step *step)
{
    return step->request.options.faithful || step->share.adapt.faithful;
}

static bool can(const struct packer *packer, enum counter counter)
{
    return counters_can(packer->state->counters) & 1u << counter;
}

static const char *lacks(const struct packer *packer)
{
    bool misses = can(packer, COUNTER_LLC_MISSES) && can(packer, COUNTER_LLC_ACCESSES);

    if (!misses && !can(packer, COUNTER_LOCK_WAIT_NS))
        return "neither cache misses nor lock time are counted here (lock_time of berth.conf)";
    return NULL;
}

/* How many threads the step had at the window's end; NAN not known. */
static double threads_of(const struct inside_run *run)
{
    return counters_know(&run->last, COUNTER_THREADS) ? run->last.value[COUNTER_THREADS] : NAN;
}

/* Shares the step all its cores with programs that get slices, too? Then it is never left with the
 * default class among them (Pusukuri 2012, section 6.2.2), whether its threads wait or not. */
static bool is_among_sliced(const struct step *step)
{
    return step->share.adapt.faithful && !step->share.adapt.parts;
}

/* Does the step have threads that wait for a CPU? Where that is not counted: more than cores. */
static bool waits(const struct step *step, const struct inside_run *run)
{
    double running = rates_of(&run->window, RATE_CPU),
           waiting = rates_of(&run->window, RATE_RUN_DELAY);

    if (is_among_sliced(step))
        return true;
    if (isnan(running) || isnan(waiting))
        return threads_of(run) > (double)step->size.given;
    return waiting > WAITING * (running + waiting);
}

/* What was known once is waited for: a window without it would say something else. */
static bool sample(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    struct inside_faithful *faithful = &run->faithful;
    double miss_ratio = rates_of(&run->window, RATE_MISS_RATIO);
    double lock = rates_of(&run->window, RATE_LOCK_WAIT) / threads_of(run);

    (void)packer;
    faithful->knew_miss |= !isnan(miss_ratio);
    faithful->knew_lock |= !isnan(lock);
    if ((faithful->knew_miss && isnan(miss_ratio)) || (faithful->knew_lock && isnan(lock)))
        return false;
    if (!faithful_ready(&faithful->model, run->from_s, run->last.at_s, threads_of(run) > 1) ||
        !waits(step, run))
        return false;
    faithful->miss_ratio = miss_ratio;
    faithful->lock = lock;
    return true;
}

static bool decide(struct inside_run *run)
{
    return faithful_take(&run->faithful.model, run->faithful.miss_ratio, run->faithful.lock);
}

static int enact(const struct packer *packer, struct step *step, struct berth_error *err)
{
    return inside_slice(packer, step, step->inside.run->faithful.model.quantum_ms, err);
}

const struct inside_policy inside_faithful = {.model = "faithful",
                                              .asked = asked,
                                              .lacks = lacks,
                                              .sample = sample,
                                              .decide = decide,
                                              .enact = enact,
                                              .undo = inside_unslice,
                                              .in_effect = inside_is_sliced};
