/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figures - see figures.h */
#include "packer/figures/figures.h"

#include <math.h>
#include <stdio.h>

#include "models/energy/edp.h"
#include "models/slowdown/loss.h"
#include "packer/bill/bill.h"
#include "packer/inside/policy.h"
#include "packer/inside/step_page.h"
#include "packer/observe/usage.h"
#include "packer/observe/window.h"
#include "packer/place/culprits.h"
#include "packer/place/forecast.h"
#include "packer/place/place.h"
#include "packer/place/reason.h"
#include "packer/size/judge.h"
#include "packer/steps/proposed.h"
#include "packer/steps/effect.h"
#include "packer/steps/program.h"
#include "packer/steps/step_counts.h"

#define OPTIONS_MAX 256
#define REASON_MAX 256
#define NOTEWORTHY 0.01 /* of its time: for less nobody is named */

/* ---- what facts.def calls ---- */

static double known(double value)
{
    return value >= 0 ? value : NAN;
}

static double known_size(uint64_t size)
{
    return size ? (double)size : NAN;
}

static double counted(const struct step *step, enum counter counter)
{
    const struct counters_sample *last = step->counts ? &step->counts->last : NULL;

    return last && counters_know(last, counter) ? last->value[counter] : NAN;
}

static double counted_s(const struct step *step, enum counter counter)
{
    return counted(step, counter) / 1e9;
}

/* The end of a step may be heard of late: then it was in effect until that. */
static double inside_s(const struct step *step)
{
    const struct step_effect *any = &step->inside.any;

    return any->changes ? fmin(effect_s(any, step->ended_mono_s), observe_elapsed_s(step)) : NAN;
}

static bool throttles(const struct step *step)
{
    return step->inside.effect[STEP_THROTTLE].changes > 0;
}

static double phase_mean(const struct step *step, enum rate_id id)
{
    double mean, error;

    return step_counts_rate(step, id, &mean, &error) ? mean : NAN;
}

/* Half a measurement is none. */
static double cores_used(const struct step *step)
{
    double elapsed_s = observe_elapsed_s(step);

    if (!(elapsed_s > 0))
        return NAN;
    return (known(step->use.user_s) + known(step->use.system_s)) / elapsed_s;
}

static double joules(uint64_t uj)
{
    return (double)uj * 1e-6;
}

static double energy_j(const struct step *step)
{
    uint64_t uj;

    return bill_total(step, &uj) ? joules(uj) : NAN;
}

static double idle_j(const struct step *step)
{
    uint64_t uj;

    return bill_idle(step, &uj) ? joules(uj) : NAN;
}

static double domain_j(const struct step *step, enum energy_domain domain)
{
    return step->bill.known[domain] ? joules(step->bill.uj[domain]) : NAN;
}

static double power_w(const struct step *step)
{
    double s = observe_elapsed_s(step);

    return s > 0 ? energy_j(step) / s : NAN;
}

/* By its instructions, were those counted from its first moment. */
static double edp_each(const struct step *step)
{
    double s = observe_elapsed_s(step), speed = step_counts_run(step, RATE_INSTRUCTIONS);

    return speed > 0 ? edp_per_instruction(energy_j(step), s, speed * s) : NAN;
}

static const char *known_word(const char *text)
{
    return text[0] ? text : NULL;
}

static const char *idle_rule(const struct step *step)
{
    return isnan(energy_j(step)) ? NULL : conf_idle_energy_name[step->bill.idle];
}

/* Until when its slowdown is told of. */
static double until_s(const struct step *step)
{
    return step->ended_at ? step->ended_mono_s : clock_s();
}

static double idle_core_s(const struct step *step)
{
    double core_s = place_idle_core_s(step, until_s(step));

    return core_s > 0 ? core_s : NAN;
}

static double predicted(const struct step *step)
{
    double placed, home;

    forecast_mean(step, until_s(step), &placed, &home);
    return placed;
}

static double at_home(const struct step *step)
{
    double placed, home;

    forecast_mean(step, until_s(step), &placed, &home);
    return home;
}

static double measured(const struct step *step)
{
    const char *source;

    return step_counts_slowdown(step, &source);
}

static const char *measured_by(const struct step *step)
{
    const char *source;

    return isnan(step_counts_slowdown(step, &source)) ? NULL : source;
}

static const char *slowdown_sources(const struct step *step, char text[FIGURE_WORD_MAX])
{
    const char *source = measured_by(step), *model = isnan(predicted(step)) ? "" : "contend";

    snprintf(text, FIGURE_WORD_MAX, "%s%s%s", model, model[0] && source ? ", " : "",
             source ? source : "");
    return text;
}

/* ---- what it has lost ---- */

static bool is_observed(const struct step *step)
{
    return step->state == STEP_OBSERVED;
}

/* Divides its time (models/slowdown/loss.h). Returns what is lost of it, a fraction. */
static double divide(const struct step *step, double part[LOSS_PARTS])
{
    double room_s = (double)cpus_count(step_stands(step)) * observe_elapsed_s(step);
    const struct loss_of of = {
        .cpu_s = known(step->use.user_s) + known(step->use.system_s),
        .wait_s = counted_s(step, COUNTER_RUN_DELAY_NS),
        .room_s = room_s,
        .taken_s = step_counts_taken(step, STEP_RIVALS) * room_s,
        .caches = predicted(step),
        .siblings = step_counts_siblings(step) > 0
                        ? step_counts_siblings(step) * step->slowdown.sibling
                        : step_counts_siblings(step),
        .measured = measured(step),
        .clock = step_counts_clock_slowdown(step),
    };

    return loss_divide(&of, part);
}

static double lost(const struct step *step)
{
    double part[LOSS_PARTS];

    return divide(step, part);
}

static double lost_by(const struct step *step, enum loss_part by)
{
    double part[LOSS_PARTS];

    divide(step, part);
    return part[by];
}

/* Who had its CPUs most; NULL: nobody. */
static const char *rival(const struct step *step)
{
    enum step_rival most = RIVAL_OUTSIDE;

    for (enum step_rival i = RIVAL_OUTSIDE; i < STEP_RIVALS; i++)
        if (step_counts_taken(step, i) > step_counts_taken(step, most))
            most = i;
    return step_counts_taken(step, most) > NOTEWORTHY && lost_by(step, LOSS_WAITING) > NOTEWORTHY
               ? step_rival_name[most]
               : NULL;
}

static const char *culprits(const struct step *step, char text[FIGURE_WORD_MAX])
{
    if (!(lost_by(step, LOSS_CACHES) > NOTEWORTHY))
        return NULL;
    return culprits_of(step, until_s(step), text, REASON_MAX);
}

/* Only of a step that asked to be sized. */
static double sized(const struct step *step, double value)
{
    return step->request.options.size ? value : NAN;
}

static double freed_core_s(const struct step *step)
{
    return step->size.verdict.counted_s > 0 ? step->size.verdict.freed_core_s : NAN;
}

static const char *effects(const struct step *step, char text[FIGURE_WORD_MAX])
{
    effect_words(step, text);
    return text;
}

/* Who Slurm says that its job is; NULL: nobody has said so. */
static const struct wire_identity *said(const struct step *step)
{
    return step->identity.is.source == WIRE_SOURCE_NONE ? NULL : &step->identity.is;
}

static double restarts(const struct step *step)
{
    return said(step) ? said(step)->restart : NAN;
}

static const char *options(const struct step *step, char text[FIGURE_WORD_MAX])
{
    wire_options_format(&step->request.options, text, OPTIONS_MAX);
    return text;
}

static const char *profile_key(const struct step *step, char text[FIGURE_WORD_MAX])
{
    program_key(step, text);
    return text;
}

static double known_if(bool known, double value)
{
    return known ? value : NAN;
}

static const char *trial_of(const struct step *step)
{
    enum step_trial trial = step->enacted.trial;

    return trial == STEP_NO_TRIAL ? NULL : step_trial_name[trial];
}

/* Did berth decide where it stands? */
static bool is_decided(const struct step *step)
{
    return step->state == STEP_PLACED || is_observed(step) || step->state == STEP_FAILED;
}

/* What berth did with it. Late is a launch that berth would have had a say in, had it been heard of
 * in time. */
static const char *deed(const struct step *step)
{
    bool late = step->late && step->request.options.mode != WIRE_MODE_OFF;

    return late && !is_decided(step) ? "late" : step_state_name[step->state];
}

static const char *left_for(const struct step *step)
{
    enum step_state state = step->state == STEP_ENDED ? step->was : step->state;
    enum wire_left left = step->enacted.left_for;
    bool off = state == STEP_LEFT || state == STEP_FAILED;

    return off && left != WIRE_NOT_LEFT ? wire_left_name[left] : NULL;
}

static const char *why_there(const struct step *step, bool hidden, char text[FIGURE_WORD_MAX])
{
    place_reason(step, !hidden, text, REASON_MAX);
    return text;
}

/* What is known of what is done inside it, also where nothing is. */
static const struct inside_run *inside_of(const struct step *step)
{
    static const struct inside_run none;

    return step->inside.run ? step->inside.run : &none;
}

/* What its processes have said. */
static const struct step_said *heard(const struct step *step)
{
    return &inside_of(step)->said;
}

static uint64_t changes(const struct step *step, enum step_policy policy)
{
    return step->inside.effect[policy].changes;
}

static unsigned domains(const struct step *step)
{
    return inside_of(step)->page ? step_page_domains(inside_of(step)->page) : 0;
}

/* What ADAPT has decided: whether all use all cores; NULL: nothing. */
static const char *configuration(const struct step *step)
{
    const struct step_adapt *adapt = &step->share.adapt;

    return !adapt->on || adapt->why ? NULL : adapt->parts ? "sets" : "all";
}

static const char *adapt_if_decided(const struct step *step, const char *text)
{
    return configuration(step) ? text : NULL;
}

static const char *memory_of(const struct step_deal *deal)
{
    return !deal->dealt ? "local" : deal->returning ? "returning" : "interleave";
}

/* What was tried by TRANQUIL last; 0 or 1 where that has ended. */
static double tried_and_kept(const struct tranquil *model)
{
    return known_if(model->tried && model->state == TRANQUIL_PROFILE, model->kept);
}

/* The last test of its prefetchers. */
static const struct prefetch *tested(const struct step *step)
{
    return &inside_of(step)->prefetch.model;
}

static const char *tested_by(const struct step *step)
{
    if (!tested(step)->tested)
        return NULL;
    return tested(step)->by_energy ? "instructions per joule" : "instructions per CPU second";
}

static const char *text_if(const char *text)
{
    return text[0] ? text : NULL;
}

static const char *prefetch_state(const struct step *step)
{
    enum wire_prefetch proposed = proposed_prefetch(step),
                       asked = proposed ? proposed : step->request.options.prefetch;

    return asked == WIRE_PREFETCH_AUTO ? prefetch_state_name[tested(step)->state]
                                       : wire_prefetch_name[asked];
}

/* ---- what they are ---- */

double figure(const struct step *step, enum fact_id id)
{
    switch (id) {
#define NO_NUMBER(ID)                                                                              \
    case FACT_##ID:                                                                                \
        return NAN;
#define FACT_WORD(ID, ...) NO_NUMBER(ID)
#define FACT_SET(ID, ...) NO_NUMBER(ID)
#define FACT(ID, key, kind, of, value, help, ...)                                                  \
    case FACT_##ID:                                                                                \
        return (value);
#include "packer/fact/facts.def"
    case FACTS:
        break;
    }
    return NAN;
}

const struct cpus *figure_set(const struct step *step, enum fact_id id)
{
    switch (id) {
#define FACT_SET(ID, key, kind, of, set, help, ...)                                                \
    case FACT_##ID:                                                                                \
        return (set);
#include "packer/fact/facts.def"
    default:
        return NULL;
    }
}

const char *figure_word(const struct step *step, enum fact_id id, bool hidden,
                        char text[FIGURE_WORD_MAX])
{
    const struct cpus *set = figure_set(step, id);

    if (set)
        return cpus_format(set, text, FIGURE_WORD_MAX) < 0 ? NULL : text;
    switch (id) {
#define FACT_WORD(ID, key, of, value, help, ...)                                                   \
    case FACT_##ID:                                                                                \
        return (value);
#include "packer/fact/facts.def"
    default:
        return NULL;
    }
}
