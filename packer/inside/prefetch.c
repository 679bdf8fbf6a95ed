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
#include "packer/inside/core_registers.h"
#include "enum_table.h"
#include "packer/counters/counters.h"
#include "packer/steps/proposed.h"

#define COUNTED (1u << COUNTER_INSTRUCTIONS | 1u << COUNTER_CPU_NS)

/* What a site's policy proposes counts as the user's word (steps/proposed.h). */
static enum wire_prefetch word_of(const struct step *step)
{
    enum wire_prefetch proposed = proposed_prefetch(step);

    return proposed == WIRE_PREFETCH_NONE ? step->request.options.prefetch : proposed;
}

static bool asked(const struct step *step)
{
    return word_of(step) != WIRE_PREFETCH_NONE;
}

static bool is_auto(const struct step *step)
{
    return word_of(step) == WIRE_PREFETCH_AUTO;
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

static struct registers_want wanted(const struct packer *packer, const struct step *step)
{
    static const enum registers_how TABLE(of_state, PREFETCH_STATES) = {
        ROW(PREFETCH_WAITING) = REGISTERS_LEAVE, ROW(PREFETCH_TEST_ON) = REGISTERS_CLEAR,
        ROW(PREFETCH_TEST_OFF) = REGISTERS_SET,  ROW(PREFETCH_ON) = REGISTERS_CLEAR,
        ROW(PREFETCH_OFF) = REGISTERS_SET,
    };
    TABLE_COMPLETE(of_state);
    struct registers_want want = {.kind = REGISTER_PREFETCHERS,
                                  .mask = packer->state->registers->prefetchers};

    if (is_auto(step))
        want.how = of_state[step->inside.run->prefetch.model.state];
    else
        want.how = word_of(step) == WIRE_PREFETCH_ON ? REGISTERS_CLEAR : REGISTERS_SET;
    return want;
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
    struct registers_want want;

    core_registers_own(packer, step, REGISTER_PREFETCHERS, &prefetch->own);
    prefetch->moved |= !cpus_equal(&prefetch->own, &before);
    if (prefetch->burst.n > 0 && !prefetch->burst.running)
        take_burst(prefetch);
    prefetch->cores = core_registers_changed(packer, step, REGISTER_PREFETCHERS);
    want = wanted(packer, step);
    prefetch->differs = !core_registers_are(packer, step, &want);
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
    struct registers_want want = wanted(packer, step);
    int rc = core_registers_set(packer, step, &want, err);

    prefetch->cores = core_registers_changed(packer, step, REGISTER_PREFETCHERS);
    return rc;
}

static int undo(const struct packer *packer, struct step *step, struct berth_error *err)
{
    (void)err;
    core_registers_give_back(packer, step, REGISTER_PREFETCHERS);
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
