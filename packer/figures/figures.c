/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figures - see figures.h */
#include "packer/figures/figures.h"

#include <math.h>
#include <stdio.h>

#include "models/energy/edp.h"
#include "packer/bill/bill.h"
#include "packer/observe/usage.h"
#include "packer/observe/window.h"
#include "packer/place/forecast.h"
#include "packer/size/judge.h"
#include "packer/steps/effect.h"
#include "packer/steps/step_counts.h"

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

/* ---- what they are ---- */

double figure(const struct step *step, enum fact_id id)
{
    switch (id) {
#define FACT_WORD(ID, ...)                                                                         \
    case FACT_##ID:                                                                                \
        return NAN;
#define FACT(ID, key, kind, of, value, help, ...)                                                  \
    case FACT_##ID:                                                                                \
        return (value);
#include "packer/fact/facts.def"
    case FACTS:
        break;
    }
    return NAN;
}

const char *figure_word(const struct step *step, enum fact_id id, char text[FIGURE_WORD_MAX])
{
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

void figures_add(struct json_object *object, const char *of, const struct step *step, bool hidden)
{
    char text[FIGURE_WORD_MAX];

    for (enum fact_id id = 0; id < FACTS; id++)
        if (!fact_is_told(id, of))
            continue;
        else if (fact[id].kind == FACT_TEXT)
            fact_add_word(object, id, figure_word(step, id, text));
        else
            fact_add(object, id, hidden && fact[id].who == FACT_ROOT ? NAN : figure(step, id));
}

struct json_object *figures_object(const char *of, const struct step *step)
{
    struct json_object *object = json_object_new_object();

    figures_add(object, of, step, false);
    return object;
}

/* Copies as much as there is room for. */
static void keep(const char *text, char *member, size_t size)
{
    snprintf(member, size, "%s", text ? text : "");
}

void figures_record(const struct step *step, struct ledger_record *record)
{
    char text[FIGURE_WORD_MAX];

#define FACT_KEPT(ID, member, type) record->member = (type)figure(step, FACT_##ID);
#define FACT_WORD_KEPT(ID, member, size)                                                           \
    keep(figure_word(step, FACT_##ID, text), record->member, size);
#include "packer/fact/facts.def"
}
