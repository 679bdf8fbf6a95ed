/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tranquil - Thread Tranquilizer (Pusukuri 2012, chapter 3; models/inside/tranquil.h): memory dealt
 * over the step's nodes and long slices for a program that misses its cache, short ones for one
 * that computes, kept where it then runs faster and more evenly than before.
 *
 * A pass begins with a burst, tries something where there is something to try, and ends with a
 * second burst, which says whether it stays. A trial of memory is measured when the pages are where
 * they shall be. */
#include <math.h>

#include "packer/base/clock.h"
#include "packer/base/json.h"
#include "packer/inside/deal.h"
#include "packer/inside/policy.h"

#define SETTLE_S 0.3 /* what was just changed is not measured: ours */

/* Both give slices: the one that its user knows more of has them. */
static bool asked(const struct step *step)
{
    return (step->request.options.tranquil || step->inside.mem_auto) &&
           !inside_faithful.asked(step);
}

static const char *lacks(const struct packer *packer)
{
    uint32_t can = counters_can(packer->state->counters);

    if (!(can & (1u << COUNTER_INVOLUNTARY | 1u << COUNTER_LLC_MISSES)))
        return "neither cache misses nor context switches are counted here";
    return NULL;
}

static const char *refuse(const struct packer *packer, const struct step *step)
{
    (void)packer;
    return deal_refusal(step);
}

static struct burst *burst_of(struct inside_run *run)
{
    return &run->tranquil.burst;
}

static double due(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    struct inside_tranquil *tranquil = &run->tranquil;
    double began_s = tranquil->pass_s > 0 ? tranquil->pass_s : step->started_mono_s;
    double due_s = tranquil->settled_s;

    if (deal_moves(packer, step))
        due_s = tranquil->settled_s = clock_s() + SETTLE_S;
    if (tranquil->model.state != TRANQUIL_TRIAL)
        due_s = fmax(due_s, began_s + (double)packer->world.conf.tranquil_pass_ms / 1e3);
    return fmax(due_s - clock_s(), 0);
}

/* What the burst says, as the model takes it. */
static struct tranquil_burst seen_in(const struct burst *burst)
{
    struct tranquil_burst seen = {.n = burst->n};

    for (size_t i = 0; i < burst->n; i++) {
        seen.miss[i] = rates_of(&burst->window[i], RATE_MISS_PMI);
        seen.icx[i] = rates_of(&burst->window[i], RATE_INVOLUNTARY);
    }
    return seen;
}

static bool sample(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    const struct tranquil_rules rules = {
        .rule = packer->world.conf.tranquil_rule == CONF_TRANQUIL_PRINTED ? TRANQUIL_PRINTED
                                                                          : TRANQUIL_SIGNIFICANT,
        .miss = packer->world.conf.tranquil_miss_pmi};
    struct inside_tranquil *tranquil = &run->tranquil;
    struct tranquil_burst seen = seen_in(&tranquil->burst);

    (void)step;
    if (tranquil->model.state == TRANQUIL_PROFILE)
        tranquil->pass_s = clock_s();
    tranquil->changed = tranquil_burst(&tranquil->model, &rules, &seen);
    return tranquil->changed;
}

static bool decide(struct inside_run *run)
{
    return run->tranquil.changed;
}

static int enact(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct inside_tranquil *tranquil = &step->inside.run->tranquil;
    const struct tranquil_policy *policy = &tranquil->model.policy;

    tranquil->settled_s = clock_s() + SETTLE_S;
    if (policy->memory == TRANQUIL_LOCAL)
        deal_back(packer, step);
    else if (deal_out(packer, step, err) < 0)
        return -1;
    return policy->slice_ms ? inside_slice(packer, step, policy->slice_ms, err)
                            : inside_unslice(packer, step, err);
}

static int undo(const struct packer *packer, struct step *step, struct berth_error *err)
{
    deal_back(packer, step);
    return inside_unslice(packer, step, err);
}

static bool in_effect(const struct step *step)
{
    return deal_is_out(step) || inside_is_sliced(step);
}

/* Adds mean and deviation before and after the last trial. */
static void add_four(struct json_object *object, const char *key, bool tried, const double *four)
{
    json_add(object, key, tried ? json_new_list(4, &json_number, four, sizeof(*four)) : NULL);
}

static void explain(const struct step *step, struct json_object *object)
{
    static const struct inside_tranquil none;
    const struct inside_run *run = step->inside.run;
    const struct tranquil *model = run ? &run->tranquil.model : &none.model;
    const struct tranquil_profile *a = &model->before, *b = &model->after;

    add_four(object, "miss", model->tried, (double[]){a->miss, a->miss_sd, b->miss, b->miss_sd});
    add_four(object, "icx", model->tried, (double[]){a->icx, a->icx_sd, b->icx, b->icx_sd});
}

const struct inside_policy inside_tranquil = {.model = "tranquil",
                                              .asked = asked,
                                              .lacks = lacks,
                                              .refuse = refuse,
                                              .burst = burst_of,
                                              .plan = {.interval_s = TRANQUIL_READING_MS / 1e3},
                                              .due = due,
                                              .sample = sample,
                                              .decide = decide,
                                              .enact = enact,
                                              .ends_by_itself = true,
                                              .undo = undo,
                                              .in_effect = in_effect,
                                              .explain = explain};
