/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figures - see figures.h */
#include "packer/figures/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/energy/edp.h"
#include "packer/base/json.h"
#include "packer/bill/bill.h"
#include "packer/inside/policy.h"
#include "packer/inside/step_page.h"
#include "packer/observe/usage.h"
#include "packer/observe/window.h"
#include "packer/place/forecast.h"
#include "packer/place/reason.h"
#include "packer/size/judge.h"
#include "packer/steps/effect.h"
#include "packer/steps/program.h"
#include "packer/steps/step_counts.h"

#define OPTIONS_MAX 256
#define REASON_MAX 256

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

static bool is_observed(const struct step *step)
{
    return step->state == STEP_OBSERVED;
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
    enum wire_left left = step->enacted.left_for;

    return step->state == STEP_LEFT && left != WIRE_NOT_LEFT ? wire_left_name[left] : NULL;
}

/* Where it stands: one that is only observed has not followed the decision. */
static const struct cpus *stands(const struct step *step)
{
    return is_observed(step) ? &step->place.home : &step->place.cpus;
}

static const char *why_there(const struct step *step, bool hidden, char text[FIGURE_WORD_MAX])
{
    place_reason(step, !hidden, text, REASON_MAX);
    return text;
}

/* What is known of what is done inside it, also where nothing is. */
static const struct inside_run *run(const struct step *step)
{
    static const struct inside_run none;

    return step->inside.run ? step->inside.run : &none;
}

/* What its processes have said. */
static const struct step_said *heard(const struct step *step)
{
    return &run(step)->said;
}

static uint64_t changes(const struct step *step, enum step_policy policy)
{
    return step->inside.effect[policy].changes;
}

static unsigned domains(const struct step *step)
{
    return run(step)->page ? step_page_domains(run(step)->page) : 0;
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
    return &run(step)->prefetch.model;
}

static const char *tested_by(const struct step *step)
{
    if (!tested(step)->tested)
        return NULL;
    return tested(step)->by_energy ? "instructions per joule" : "instructions per CPU second";
}

static const char *prefetch_state(const struct step *step)
{
    enum wire_prefetch asked = step->request.options.prefetch;

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

/* Returns the CPUs that a list or caches are of; NULL: it is not known. */
static const struct cpus *figure_set(const struct step *step, enum fact_id id)
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

/* ---- where they are told ---- */

struct json_object *figures_caches(const struct topo *topo, const struct cpus *cpus)
{
    struct json_object *caches = json_object_new_array();

    for (size_t i = 0; i < topo->llcs; i++)
        if (cpus_intersect(&topo->llc[i].cpus, cpus))
            json_append(caches, json_object_new_uint64(i));
    return caches;
}

void figures_add(struct json_object *object, const char *of, const struct packer *packer,
                 const struct step *step, bool hidden)
{
    char text[FIGURE_WORD_MAX];

    for (enum fact_id id = 0; id < FACTS; id++) {
        const struct fact *told = &fact[id];

        if (!fact_is_told(id, of))
            continue;
        if (hidden && told->who == FACT_ROOT)
            json_add(object, told->key, NULL);
        else if (told->kind == FACT_CACHES)
            json_add(object, told->key, figures_caches(packer->world.topo, figure_set(step, id)));
        else if (told->kind == FACT_TEXT || told->kind == FACT_CPU_LIST)
            fact_add_word(object, id, figure_word(step, id, hidden, text));
        else
            fact_add(object, id, figure(step, id));
    }
}

struct json_object *figures_object(const char *of, const struct packer *packer,
                                   const struct step *step, bool hidden)
{
    struct json_object *object;

    if (hidden && fact_is_of_others(of))
        return NULL;
    object = json_object_new_object();
    figures_add(object, of, packer, step, hidden);
    return object;
}

static struct json_object *inside_object(const struct packer *packer, const struct step *step,
                                         enum step_policy i)
{
    const struct step_effect *effect = &step->inside.effect[i];
    struct json_object *object;
    const char *why;

    if (!inside_is_wanted(step, i))
        return NULL;
    why = inside_refusal(packer, step, i);
    object = json_object_new_object();
    json_add_text(object, "refused", why);
    json_add_measure(object, "seconds", effect->changes ? effect_s(effect, clock_s()) : NAN);
    if (!why)
        figures_add(object, step_policy_word[i], packer, step, false);
    if (!why && inside_policies[i]->explain)
        inside_policies[i]->explain(step, object);
    return object;
}

void figures_inside(const struct packer *packer, const struct step *step,
                    struct json_object *explain)
{
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        json_add(explain, step_policy_word[i], inside_object(packer, step, i));
}

/* Copies as much as there is room for; a list of CPUs that is too long ends in ",.." where it was
 * cut. */
static void keep(enum fact_id id, const char *text, char *member, size_t size)
{
    bool fits = !text || strlen(text) < size;
    char *comma;

    snprintf(member, size, "%s", text ? text : "");
    if (fits || fact[id].kind != FACT_CPU_LIST)
        return;
    member[size - 3] = '\0';
    comma = strrchr(member, ',');
    strcpy(comma ? comma : member, ",..");
}

/* What is not known is 0, of a number that is whole. */
#define KEPT_double(value) (value)
#define KEPT_uint32_t(value) (uint32_t) fmax(value, 0)
#define KEPT_uint64_t(value) (uint64_t) fmax(value, 0)

void figures_record(const struct step *step, struct ledger_record *record)
{
    char text[FIGURE_WORD_MAX];

#define FACT_KEPT(ID, member, type) record->member = KEPT_##type(figure(step, FACT_##ID));
#define FACT_WORD_KEPT(ID, member, size)                                                           \
    keep(FACT_##ID, figure_word(step, FACT_##ID, false, text), record->member, size);
#include "packer/fact/facts.def"
}
