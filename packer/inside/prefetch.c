/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefetch - the hardware prefetchers of the cores that a step has to itself: all on, all off, or
 * as it gets more done (prefetch=on|off|auto; Wang 2015, section 7.4.2; models/inside/prefetch.h).
 *
 * A test is two bursts of one reading each. The registers follow the step: cores that it leaves are
 * given back, those that it comes to are switched; a test in which that happens begins anew. */
#include <math.h>
#include <time.h>

#include "packer/base/clock.h"
#include "packer/inside/policy.h"
#include "packer/inside/prefetch_cores.h"
#include "enum_table.h"
#include "packer/counters/counters.h"
#include "packer/steps/registers.h"

#define COUNTED (1u << COUNTER_INSTRUCTIONS | 1u << COUNTER_CPU_NS)

static bool asked(const struct step *step)
{
    return step->request.options.prefetch != WIRE_PREFETCH_NONE;
}

static bool is_auto(const struct step *step)
{
    return step->request.options.prefetch == WIRE_PREFETCH_AUTO;
}

static const char *lacks(const struct packer *packer)
{
    return packer->state->registers->prefetchers ? NULL : lacks_why(packer, LACK_PREFETCHERS);
}

static const char *refuse(const struct packer *packer, const struct step *step)
{
    if (is_auto(step) && (counters_can(packer->state->counters) & COUNTED) != COUNTED)
        return "nothing counts instructions here";
    return NULL;
}

static enum prefetch_want wanted(const struct step *step, const struct prefetch *model)
{
    static const enum prefetch_want TABLE(of_state, PREFETCH_STATES) = {
        ROW(PREFETCH_WAITING) = PREFETCH_LEAVE,       ROW(PREFETCH_TEST_ON) = PREFETCH_SWITCH_ON,
        ROW(PREFETCH_TEST_OFF) = PREFETCH_SWITCH_OFF, ROW(PREFETCH_ON) = PREFETCH_SWITCH_ON,
        ROW(PREFETCH_OFF) = PREFETCH_SWITCH_OFF,
    };
    TABLE_COMPLETE(of_state);

    if (is_auto(step))
        return of_state[model->state];
    return step->request.options.prefetch == WIRE_PREFETCH_ON ? PREFETCH_SWITCH_ON
                                                              : PREFETCH_SWITCH_OFF;
}

/* ---- tests ---- */

static struct burst *burst_of(struct inside_run *run)
{
    return &run->prefetch.burst;
}

static double due(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    struct prefetch *model = &run->prefetch.model;
    const struct step_counts *counts = step->counts;
    double in_s;

    if (!is_auto(step))
        return -1;
    if (!counts || !counts->counters ||
        cpus_empty(&run->prefetch.own)) /* it starts up; no core is its */
        return packer->world.conf.window_ms / 1e3;
    in_s = prefetch_due(model, counts->phase.number, clock_s());
    if (in_s != 0)
        return in_s;
    if (model->state != PREFETCH_TEST_ON && model->state != PREFETCH_TEST_OFF)
        prefetch_begin(model, counts->phase.number, clock_s());
    run->prefetch.burst.n = 0;
    run->prefetch.moved = false;
    return 0;
}

static struct prefetch_half half_of(const struct burst *burst)
{
    const struct phase_window *window = &burst->window[0];
    double instructions = rates_of(window, RATE_INSTRUCTIONS) * window->x[RATE_INSTRUCTIONS];

    return (struct prefetch_half){.ips = rates_of(window, RATE_CORE_SPEED),
                                  .ipj = burst->joules > 0 ? instructions / burst->joules : NAN};
}

static bool is_decided(const struct prefetch *model)
{
    return model->state == PREFETCH_ON || model->state == PREFETCH_OFF;
}

/* Takes in a burst that is over. */
static void take_burst(struct inside_prefetch *prefetch)
{
    struct prefetch_half half = half_of(&prefetch->burst);

    prefetch->burst.n = 0;
    if (prefetch->moved)
        prefetch_again(&prefetch->model);
    else
        prefetch_tell(&prefetch->model, &half);
    if (is_decided(&prefetch->model))
        prefetch->at = time(NULL);
}

static bool sample(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    struct inside_prefetch *prefetch = &run->prefetch;
    struct cpus before = prefetch->own;

    prefetch_own(packer, step, &prefetch->own);
    prefetch->moved |= !cpus_equal(&prefetch->own, &before);
    if (prefetch->burst.n > 0 && !prefetch->burst.running)
        take_burst(prefetch);
    prefetch->cores = prefetch_switched(packer, step);
    prefetch->differs = !prefetch_is(packer, step, wanted(step, &prefetch->model));
    return true;
}

static bool decide(struct inside_run *run)
{
    return run->prefetch.differs;
}

/* ---- the registers ---- */

static int enact(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct inside_prefetch *prefetch = &step->inside.run->prefetch;
    int rc = prefetch_set(packer, step, wanted(step, &prefetch->model), err);

    prefetch->cores = prefetch_switched(packer, step);
    return rc;
}

static int undo(const struct packer *packer, struct step *step, struct berth_error *err)
{
    (void)err;
    prefetch_give_back(packer, step);
    if (step->inside.run)
        step->inside.run->prefetch.cores = 0;
    return 0;
}

static bool in_effect(const struct step *step)
{
    return step->inside.run->prefetch.cores > 0;
}

const struct inside_policy inside_prefetch = {
    .model = "prefetch",
    .asked = asked,
    .lacks = lacks,
    .refuse = refuse,
    .always = true,
    .burst = burst_of,
    .plan = {.interval_s = PREFETCH_TEST_S, .readings = 1, .energy = true},
    .due = due,
    .sample = sample,
    .decide = decide,
    .enact = enact,
    .undo = undo,
    .in_effect = in_effect};
