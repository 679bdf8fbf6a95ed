/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inside - see inside.h */
#include "packer/inside/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/log.h"
#include "packer/base/text.h"
#include "packer/inside/policy.h"
#include "packer/memory/origin.h"
#include "packer/observe/window.h"

/* A new policy is a row here, and a word (CONTRIBUTING.md). */
static const struct inside_policy *const policies[] = {&inside_faithful, &inside_tranquil,
                                                       &inside_shuffle, &inside_adapt};

#define POLICIES (sizeof(policies) / sizeof(policies[0]))

/* ---- what may be ---- */

/* Has its user asked for it, be it that the site does not allow it? */
static bool is_wanted(const struct step *step, const struct inside_policy *policy)
{
    return policy->asked(step) || text_lists(step->refused, policy->word);
}

/* Returns why a policy that is wanted has no effect in this step; NULL: it has. */
static const char *refusal(const struct packer *packer, const struct step *step,
                           const struct inside_policy *policy)
{
    if (!policy->asked(step))
        return "berth.conf does not allow it";
    if (step->inside.run && step->inside.run->why[0])
        return step->inside.run->why;
    if (!step->inside.run && step->inside.why)
        return step->inside.why;
    if (!packer->enforce.way->touches)
        return "nothing is changed on this node (enforcement=dryrun)";
    return policy->refuse(packer);
}

static bool asks(const struct step *step)
{
    for (size_t i = 0; i < POLICIES; i++)
        if (policies[i]->asked(step))
            return true;
    return false;
}

void inside_begin(struct packer *packer, struct step *step)
{
    inside_undo(packer, step);
    step->inside.slice_ms = NAN;
    step->inside.mem_auto = step->request.options.mem_auto && packer->topo->nodes > 1;
    if (!asks(step))
        return;
    if (step_is_shell(step))
        step->inside.why = "batch scripts and shells only wait";
    else if (!step_movable(step))
        step->inside.why = "berth does not place the step";
    else if (!(step->inside.run = calloc(1, sizeof(*step->inside.run))))
        step->inside.why = "out of memory";
}

/* ---- turns ---- */

/* Takes the reading that ended the last window. Returns whether there is a new window. */
static bool read_window(const struct step *step, struct inside_run *run)
{
    struct counters_sample now;
    bool read = run->read;

    if (!window_last(step, &now) || (read && now.at_s <= run->last.at_s))
        return false;
    if (read)
        rates_window(&run->last, &now, &run->window);
    run->last = now;
    run->read = true;
    return read;
}

static void give_up(struct packer *packer, struct step *step, const struct inside_policy *policy,
                    const char *why)
{
    struct inside_run *run = step->inside.run;

    log_warn("step %u.%u: %s: %s; its threads are left alone", step->request.id.job,
             step->request.id.step, policy->word, why);
    snprintf(run->why, sizeof(run->why), "%.150s", why);
    inside_undo(packer, step);
}

/* What fails is tried again at each turn, and said once. */
static void undo(struct packer *packer, struct step *step, const struct inside_policy *policy)
{
    struct berth_error err;

    if (policy->undo(packer, step, &err) == 0)
        return;
    if (!step->inside.undo_failed)
        log_error("step %u.%u: %s: not undone yet: %s", step->request.id.job, step->request.id.step,
                  policy->word, err.text);
    step->inside.undo_failed = true;
}

/* Notes that the policy has something in effect. */
static void note(struct step *step, const struct inside_policy *policy)
{
    struct step_inside *inside = &step->inside;
    size_t used = strlen(inside->words);

    inside->acts++;
    if (!text_lists(inside->words, policy->word))
        snprintf(inside->words + used, sizeof(inside->words) - used, "%s%s", used ? "," : "",
                 policy->word);
}

/* There is a new window, or a burst: what follows from it. */
static void take(struct packer *packer, struct step *step, size_t i)
{
    const struct inside_policy *policy = policies[i];
    struct inside_run *run = step->inside.run;
    struct berth_error err;

    if (!policy->sample(packer, step, run) || !policy->decide(run))
        return;
    run->enacted |= 1u << i;
    if (policy->enact(packer, step, &err) < 0)
        give_up(packer, step, policy, err.text);
    else
        note(step, policy);
}

static void turn_of_policy(struct packer *packer, struct step *step, size_t i)
{
    const struct inside_policy *policy = policies[i];
    struct inside_run *run = step->inside.run;

    if (!policy->asked(step) && run->enacted & 1u << i) { /* ADAPT wants it no more */
        undo(packer, step, policy);
        run->enacted &= ~(1u << i);
    }
    if (!policy->asked(step) || refusal(packer, step, policy) || policy->burst)
        return;
    take(packer, step, i);
}

/* Lets a policy take its turn in the burst that it has of a step, or wants. Returns the seconds
 * until the next one, < 0: it wants none. */
static double burst_of_policy(struct packer *packer, struct step *step, size_t i)
{
    const struct inside_policy *policy = policies[i];
    struct inside_run *run = step->inside.run;
    struct burst *burst;
    double in_s;

    if (!policy->burst || !policy->asked(step) || refusal(packer, step, policy))
        return -1;
    burst = policy->burst(run);
    if (burst->running && burst_turn(packer, step, burst))
        take(packer, step, i);
    if (burst->running)
        return burst_due(burst);
    in_s = run->why[0] ? -1 : policy->due(packer, step, run);
    if (in_s != 0)
        return in_s;
    burst_begin(packer, step, burst, policy->burst_s, policy->by_thread);
    return policy->burst_s;
}

double inside_bursts(struct packer *packer)
{
    struct step *step;
    double in_s = -1;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        for (size_t i = 0; i < POLICIES && step->inside.run && step_movable(step); i++) {
            double its_s = burst_of_policy(packer, step, i);

            if (its_s >= 0 && (in_s < 0 || its_s < in_s))
                in_s = its_s;
        }
    }
    return in_s;
}

static void turn_of(struct packer *packer, struct step *step)
{
    for (size_t i = 0; i < POLICIES && !step->inside.run->why[0]; i++)
        turn_of_policy(packer, step, i);
}

/* A step that did not ask for anything may be given something later. */
static struct inside_run *run_of(struct packer *packer, struct step *step)
{
    if (!step->inside.run && !step->inside.why && asks(step))
        inside_begin(packer, step);
    return step->inside.run;
}

void inside_turn(struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        if (!step_movable(step))
            inside_undo(packer, step);
        else if (run_of(packer, step) && read_window(step, step->inside.run))
            turn_of(packer, step);
    }
}

/* ---- ends ---- */

void inside_undo(struct packer *packer, struct step *step)
{
    for (size_t i = 0; i < POLICIES; i++)
        undo(packer, step, policies[i]);
}

void inside_end(struct packer *packer, struct step *step)
{
    struct inside_run *run = step->inside.run;

    step->inside.sliced = step->inside.shuffled = false;
    step->inside.dealt = false;
    if (run) {
        memory_origin_release(run->origin);
        run->origin = NULL;
    }
    for (size_t i = 0; run && i < POLICIES; i++)
        if (policies[i]->burst)
            burst_end(packer, policies[i]->burst(run));
}

/* ---- what people are told ---- */

const char *inside_vain(const struct packer *packer, const struct step *step, size_t *i,
                        const char **word)
{
    const struct inside_policy *policy = policies[*i];

    *i = (*i + 1) % POLICIES;
    *word = policy->word;
    return is_wanted(step, policy) ? refusal(packer, step, policy) : NULL;
}

static struct json_object *explain(const struct packer *packer, const struct step *step,
                                   const struct inside_policy *policy)
{
    struct json_object *object;
    const char *why;

    if (!is_wanted(step, policy))
        return NULL;
    why = refusal(packer, step, policy);
    object = json_object_new_object();
    json_add_text(object, "refused", why);
    if (!why)
        policy->explain(step, object);
    return object;
}

void inside_explain(const struct packer *packer, const struct step *step,
                    struct json_object *object)
{
    for (size_t i = 0; i < POLICIES; i++)
        json_add(object, policies[i]->word, explain(packer, step, policies[i]));
}
