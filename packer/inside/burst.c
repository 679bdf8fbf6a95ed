/* SPDX-License-Identifier: GPL-2.0-or-later */
/* burst - see burst.h */
#include "packer/inside/burst.h"

#include <math.h>
#include <stdlib.h>

#include "packer/base/clock.h"
#include "packer/bill/bill.h"
#include "packer/observe/window.h"

/* Reads the step's threads. An empty list: they cannot be read. Returns the CPU seconds that it
 * took. */
static double read_threads(const struct packer *packer, const struct step *step,
                           struct thread_list *list)
{
    uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    pid_t *pid = NULL;
    size_t n;

    *list = (struct thread_list){.n = 0};
    if (enforce_step_pids(packer->world.enforce, &step->body, &pid, &n) == 0)
        thread_times_read(&packer->world.root, counters_locks(packer->state->counters), n, pid,
                          list);
    free(pid);
    return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) / 1e9;
}

static size_t readings(const struct burst_plan *plan)
{
    return plan->readings ? plan->readings : BURST_READINGS;
}

double burst_interval_s(const struct burst_plan *plan, double threads_s)
{
    double least_s = 2 * threads_s / BURST_THREADS_SHARE;

    return fmax(plan->interval_s, least_s / (double)readings(plan));
}

/* Returns what the step was billed until now, in joules; NAN: it is not metered. What a model of
 * the node's power says is no measurement. */
static double billed_j(const struct packer *packer, const struct step *step)
{
    uint64_t uj;

    bill_turn(packer);
    if (step->bill.modelled || !bill_total(step, &uj))
        return NAN;
    return (double)uj / 1e6;
}

void burst_begin(const struct packer *packer, struct step *step, struct burst *burst,
                 const struct burst_plan *plan)
{
    struct lock_time *locks = counters_locks(packer->state->counters);
    struct thread_list before = burst->earlier;

    if (window_read(packer, step, &burst->last) < 0)
        return;
    burst->earlier = (struct thread_list){.n = 0};
    burst->plan = *plan;
    if (plan->by_thread)
        burst->plan.interval_s =
            burst_interval_s(plan, read_threads(packer, step, &burst->earlier));
    thread_times_forget_but(locks, &before, &burst->earlier); /* they have ended */
    thread_list_free(&before);
    burst->running = true;
    burst->began_s = clock_s();
    burst->n = 0;
    burst->before_j = plan->energy ? billed_j(packer, step) : NAN;
    burst->gaps = step->bill.gaps;
    burst->next_s = clock_s() + burst->plan.interval_s;
}

static void finish(const struct packer *packer, struct step *step, struct burst *burst)
{
    burst->seconds = clock_s() - burst->began_s;
    thread_list_free(&burst->thread);
    burst->joules = burst->plan.energy ? billed_j(packer, step) - burst->before_j : NAN;
    if (step->bill.gaps != burst->gaps)
        burst->joules = NAN;
    if (!burst->plan.by_thread)
        return;
    read_threads(packer, step, &burst->thread);
    thread_times_forget_but(counters_locks(packer->state->counters), &burst->thread,
                            &burst->earlier); /* who has begun meanwhile may end before the next */
    thread_times_since(&burst->thread, &burst->earlier);
}

/* A reading that comes late makes its interval longer, and moves the next one: two at once would
 * say nothing. */
bool burst_turn(const struct packer *packer, struct step *step, struct burst *burst)
{
    struct counters_sample now;

    if (burst_due(burst) > 0)
        return false;
    burst->running = window_read(packer, step, &now) == 0 && burst->n < readings(&burst->plan);
    if (!burst->running)
        return false;
    rates_window(&burst->last, &now, &burst->window[burst->n++]);
    burst->last = now;
    burst->next_s = clock_s() + burst->plan.interval_s;
    burst->running = burst->n < readings(&burst->plan);
    if (!burst->running)
        finish(packer, step, burst);
    return !burst->running;
}

void burst_end(const struct packer *packer, struct burst *burst)
{
    thread_times_forget(counters_locks(packer->state->counters), &burst->earlier);
    thread_list_free(&burst->earlier);
    thread_list_free(&burst->thread);
    burst->running = false;
}

double burst_due(const struct burst *burst)
{
    return fmax(burst->next_s - clock_s(), 0);
}
