/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inside - see inside.h */
#include "packer/inside/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/base/log.h"
#include "packer/counters/counters.h"
#include "packer/inside/core_registers.h"
#include "packer/inside/deal.h"
#include "packer/inside/policy.h"
#include "packer/observe/window.h"
#include "packer/steps/effect.h"
#include "packer/steps/proposed.h"
#include "packer/steps/registers.h"
#include "packer/steps/stage.h"

static bool asks(const struct step *step)
{
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        if (inside_policies[i]->asked(step))
            return true;
    return false;
}

/* ---- readings ---- */

/* Takes the reading that ended the last window. Returns whether there is a new window. */
static bool read_window(const struct step *step, struct inside_run *run)
{
    struct counters_sample now;
    bool read = run->read;

    if (!window_last(step, &now) || (read && now.at_s <= run->last.at_s))
        return false;
    if (read)
        rates_window(&run->last, &now, &run->window);
    run->from_s = run->last.at_s;
    run->last = now;
    run->read = true;
    return read;
}

/* ---- what is in effect ---- */

/* Notes what is in effect from now on. */
static void account(struct step *step)
{
    struct step_inside *inside = &step->inside;
    double now_s = clock_s();
    bool any = false;

    for (enum step_policy i = 0; i < STEP_POLICIES; i++) {
        bool its =
            inside->run && inside->run->enacted & 1u << i && inside_policies[i]->in_effect(step);

        effect_set(&inside->effect[i], its, now_s);
        any |= its;
    }
    effect_set(&inside->any, any, now_s);
}

/* What fails is tried again at each turn, and said once. */
static void undo(const struct packer *packer, struct step *step, enum step_policy i)
{
    struct step_inside *inside = &step->inside;
    struct berth_error err;

    if (inside_policies[i]->undo(packer, step, &err) == 0) {
        inside->undo_failed &= ~(1u << i);
        if (inside->run)
            inside->run->enacted &= ~(1u << i);
        return;
    }
    if (!(inside->undo_failed & 1u << i))
        log_error("step %u.%u: %s: not undone yet: %s", step->request.id.job, step->request.id.step,
                  step_policy_word[i], err.text);
    inside->undo_failed |= 1u << i;
}

static void give_up(const struct packer *packer, struct step *step, enum step_policy i,
                    const char *why)
{
    struct inside_run *run = step->inside.run;

    log_warn("step %u.%u: %s: %s; its threads are left alone", step->request.id.job,
             step->request.id.step, step_policy_word[i], why);
    snprintf(run->why, sizeof(run->why), "%.150s", why);
    inside_undo(packer, step);
}

/* Has the policy change what it has decided. It counts as in effect before: so the journal, which
 * is written first, has it. */
static void enact(const struct packer *packer, struct step *step, enum step_policy i)
{
    struct step_inside *inside = &step->inside;
    double now_s = clock_s();
    struct berth_error err;

    inside->run->enacted |= 1u << i;
    effect_begin(&inside->effect[i], now_s);
    effect_begin(&inside->any, now_s);
    if (inside_policies[i]->enact(packer, step, &err) == 0)
        return;
    inside->effect[i].changes--;
    inside->any.changes--;
    give_up(packer, step, i, err.text);
}

/* There is a new window, or a burst: what follows from it. */
static void take_policy(const struct packer *packer, struct step *step, enum step_policy i)
{
    struct inside_run *run = step->inside.run;

    if (inside_policies[i]->sample(packer, step, run) && inside_policies[i]->decide(run))
        enact(packer, step, i);
}

/* Lets a policy take its turn in the burst that it has of a step, or wants. Returns the seconds
 * until the next one, < 0: it wants none. */
static double burst_of_policy(const struct packer *packer, struct step *step, enum step_policy i)
{
    const struct inside_policy *policy = inside_policies[i];
    struct inside_run *run = step->inside.run;
    struct burst *burst;
    double in_s;

    if (!policy->burst || !policy->asked(step) || inside_refusal(packer, step, i))
        return -1;
    burst = policy->burst(run);
    if (burst->running && burst_turn(packer, step, burst)) {
        take_policy(packer, step, i);
        account(step);
    }
    if (burst->running)
        return burst_due(burst);
    in_s = run->why[0] ? -1 : policy->due(packer, step, run);
    if (in_s != 0)
        return in_s;
    if (policy->always)
        take_policy(packer, step, i);
    if (run->why[0])
        return -1;
    burst_begin(packer, step, burst, &policy->plan);
    return burst->running ? burst_due(burst) : policy->plan.interval_s;
}

static void begin_turn(const struct packer *packer)
{
    if (packer->world.enforce->paced)
        enforce_pace(packer->world.enforce, ENFORCE_LOOKS, ENFORCE_TURN_S);
}

/* Goes on with what was begun. What cannot be given is taken back; what cannot be taken back is
 * tried again at the next turn. */
static void slicing_turn(const struct packer *packer, struct step *step)
{
    struct inside_run *run = step->inside.run;
    struct berth_error err;

    if (inside_slicing_turn(packer, step, &err) >= 0)
        account(step);
    else if (!run || !run->enacted)
        step->inside.undo_failed |= 1u << STEP_FAITHFUL;
    else
        give_up(packer, step, run->enacted & 1u << STEP_TRANQUIL ? STEP_TRANQUIL : STEP_FAITHFUL,
                err.text);
}

/* The seconds until one of the step's bursts wants a turn, or its threads do; < 0: nothing does. */
static double bursts_of(const struct packer *packer, struct step *step)
{
    double in_s = -1;

    if (step->inside.slicing)
        slicing_turn(packer, step);
    for (enum step_policy i = 0; i < STEP_POLICIES && step->inside.run && !step->inside.slicing;
         i++)
        in_s = clock_sooner(in_s, burst_of_policy(packer, step, i));
    return step->inside.slicing ? 0 : in_s;
}

double inside_bursts(const struct packer *packer)
{
    struct step *step;
    double in_s = -1;

    begin_turn(packer);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (step_movable(step))
            in_s = clock_sooner(in_s, bursts_of(packer, step));
    }
    return in_s;
}

/* ---- a step begins ---- */

/* Has the page say what the policy begins with. 0, or -1 and err. */
static int begin_page(const struct packer *packer, struct step *step, enum step_policy i,
                      struct berth_error *err)
{
    if (inside_page_open(packer, step, err) < 0)
        return -1;
    return inside_policies[i]->begin ? inside_policies[i]->begin(packer, step, err) : 0;
}

/* What the step's tasks find when they start. */
static void begin_all(const struct packer *packer, struct step *step)
{
    struct berth_error err;

    for (enum step_policy i = 0; i < STEP_POLICIES && !step->inside.run->why[0]; i++) {
        const struct inside_policy *policy = inside_policies[i];

        if (!policy->page || !policy->asked(step) || inside_refusal(packer, step, i))
            continue;
        if (begin_page(packer, step, i, &err) == 0)
            take_policy(packer, step, i);
        else
            give_up(packer, step, i, err.text);
    }
    account(step);
}

void inside_begin(const struct packer *packer, struct step *step)
{
    inside_undo(packer, step);
    core_registers_settle(packer); /* others may stand elsewhere now */
    step->inside.slice_ms = NAN;
    step->inside.mem_auto = step->request.options.mem_auto && packer->world.topo->nodes > 1;
    if (!asks(step))
        return;
    if (step_is_shell(step))
        step->inside.why = "batch scripts and shells only wait";
    else if (!step_movable(step))
        step->inside.why = "berth does not place the step";
    else if (!(step->inside.run = calloc(1, sizeof(*step->inside.run))))
        step->inside.why = "out of memory";
    else
        begin_all(packer, step);
}

void inside_resume(const struct packer *packer)
{
    deal_clean(packer);
    step_page_sweep(packer);
    core_registers_settle(packer);
}

/* ---- turns of a step ---- */

/* What is asked for no more is taken back first: ADAPT has slices given, and not given any more. */
static void turn_of(const struct packer *packer, struct step *step, bool window)
{
    const struct inside_run *run = step->inside.run;
    struct berth_error err;

    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        if (run->enacted & 1u << i && !inside_policies[i]->asked(step))
            undo(packer, step, i);
    if (inside_page_turn(packer, step, &err) < 0)
        give_up(packer, step, STEP_FOLLOW, err.text);
    for (enum step_policy i = 0; i < STEP_POLICIES && !run->why[0]; i++) {
        const struct inside_policy *policy = inside_policies[i];

        if (((window && !policy->burst) || policy->page || policy->always) && policy->asked(step) &&
            !inside_refusal(packer, step, i))
            take_policy(packer, step, i);
    }
    account(step);
}

/* A step that did not ask for anything may be given something later. */
static struct inside_run *run_of(const struct packer *packer, struct step *step)
{
    if (!step->inside.run && !step->inside.why && asks(step))
        inside_begin(packer, step);
    return step->inside.run;
}

int inside_propose(const struct packer *packer, struct step *step, enum step_policy i,
                   struct berth_error *err)
{
    struct step_inside *inside = &step->inside;
    const char *why;

    if (!run_of(packer, step))
        return berth_error_set(err, "%s", inside->why ? inside->why : "nothing is asked");
    why = inside_refusal(packer, step, i);
    if (why)
        return berth_error_set(err, "%s", why);
    inside->run->enacted |= 1u << i;
    effect_begin(&inside->effect[i], clock_s());
    effect_begin(&inside->any, clock_s());
    if (inside_policies[i]->enact(packer, step, err) == 0) {
        account(step);
        return 0;
    }
    inside->effect[i].changes--;
    inside->any.changes--;
    undo(packer, step, i);
    account(step);
    return -1;
}

void inside_withdraw(const struct packer *packer, struct step *step, enum step_policy i)
{
    undo(packer, step, i);
    account(step);
}

/* Tries again what could not be taken back. */
static void undo_again(const struct packer *packer, struct step *step)
{
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        if (step->inside.undo_failed & 1u << i)
            undo(packer, step, i);
}

bool inside_turn(const struct packer *packer)
{
    struct step *step;
    bool more = false;

    begin_turn(packer);
    core_registers_settle(packer);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        deal_turn(packer, step);
        undo_again(packer, step);
        if (!step_movable(step) || (step->inside.run && step->inside.run->why[0]))
            inside_undo(packer, step);
        else if (step->inside.slicing)
            slicing_turn(packer, step);
        else if (run_of(packer, step))
            turn_of(packer, step, read_window(step, step->inside.run));
        more |= step->inside.slicing != NULL;
    }
    return more;
}

/* ---- ends ---- */

void inside_undo(const struct packer *packer, struct step *step)
{
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        undo(packer, step, i);
    account(step);
}

void inside_stop(const struct packer *packer)
{
    core_registers_settle(packer);
    deal_stop(packer, INSIDE_STOP_S);
}

static void close_all(const struct packer *packer, struct step *step, bool over)
{
    struct inside_run *run = step->inside.run;
    bool paged = false;

    for (enum step_policy i = 0; i < STEP_POLICIES; i++) {
        if (run && inside_policies[i]->burst)
            burst_end(packer, inside_policies[i]->burst(run));
        paged |= inside_policies[i]->page && inside_policies[i]->asked(step);
    }
    if (paged)
        inside_page_close(packer, step, over);
}

/* berthd ends: what it has open of the step is closed. */
static void inside_close(const struct packer *packer, struct step *step)
{
    inside_slicing_drop(step);
    close_all(packer, step, false);
}

void inside_disown(struct step *step)
{
    step->inside.sliced = step->inside.shuffled = false;
    cpus_zero(&step->inside.given_ms);
    inside_slicing_drop(step);
}

/* What cannot be undone is tried once more: there is no turn after this one,
 * and so all of it is done in this one. */
void inside_end(const struct packer *packer, struct step *step)
{
    bool paced = packer->world.enforce->paced;

    enforce_pace(packer->world.enforce, ENFORCE_ALL, 0);
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        if (!inside_policies[i]->ends_by_itself)
            undo(packer, step, i);
    undo_again(packer, step);
    if (paced)
        enforce_pace(packer->world.enforce, ENFORCE_LOOKS, ENFORCE_TURN_S);
    close_all(packer, step, true);
    inside_disown(step);
    deal_end(packer, step);
    if (step->inside.run)
        step->inside.run->enacted = 0;
    account(step);
}

const char *inside_page(const struct step *step)
{
    const struct inside_run *run = step->inside.run;

    return run && run->page ? step_page_path(run->page) : NULL;
}

/* ---- the stage ---- */

static int open_inside(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    core_registers_open(packer);
    return 0;
}

static void close_steps(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link) inside_close(packer, step);
    registers_free(packer->state->registers);
}

static void end_inside(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    (void)end;
    inside_end(packer, step);
}

static void policies_turn(const struct packer *packer, struct turn *turn)
{
    turn->again |= inside_turn(packer);
}

const struct stage inside_stage = {
    .name = "inside",
    .open = open_inside,
    .close = close_steps,
    .begin = inside_begin,
    .end = end_inside,
    .undo = inside_undo,
    .turn = policies_turn,
    .due = proposed_due,
};
