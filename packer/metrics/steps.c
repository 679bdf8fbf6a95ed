/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps - writes the series of steps: which steps have some, and what is known of each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/bill/bill.h"
#include "packer/counters/counters.h"
#include "packer/figures/figures.h"
#include "packer/metrics/node.h"
#include "packer/observe/window.h"
#include "packer/steps/effect.h"
#include "packer/steps/program.h"
#include "packer/steps/step_counts.h"

/* A step that is shown. */
struct shown {
    const struct step *step;
    char name[WIRE_STEP_NAME_MAX];
    struct metrics_label label[3]; /* jobid, step; room for one more */
};

struct choice {
    struct shown *shown;
    size_t n, most, left_out;
};

/* ---- which steps ---- */

/* "4711.batch" is two labels. */
static void name_step(struct shown *shown, const struct step *step)
{
    char *dot;

    shown->step = step;
    wire_step_name(step->request.id, shown->name);
    dot = strchr(shown->name, '.');
    if (dot)
        *dot = '\0';
    shown->label[0] = (struct metrics_label){"jobid", shown->name};
    shown->label[1] = (struct metrics_label){"step", dot ? dot + 1 : NULL};
}

static void choose(struct choice *choice, const struct step *step)
{
    if (choice->n < choice->most)
        name_step(&choice->shown[choice->n++], step);
    else
        choice->left_out++;
}

/* A requeued job's step has the name that it had before; no series may be there twice. */
static bool is_chosen(const struct choice *choice, struct wire_step_id id)
{
    for (size_t i = 0; i < choice->n; i++) {
        const struct wire_step_id *chosen = &choice->shown[i].step->request.id;

        if (chosen->job == id.job && chosen->step == id.step)
            return true;
    }
    return false;
}

static void choose_all(const struct packer *packer, struct choice *choice)
{
    double since_s = clock_s() - METRICS_LINGER_S;
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    choose(choice, step);
    TAILQ_FOREACH(step, &packer->steps->ended, link)
    {
        if (step->ended_mono_s < since_s)
            break;
        if (!is_chosen(choice, step->request.id))
            choose(choice, step);
    }
}

/* ---- what is known of one ---- */

static double cpu_s(const struct step *step)
{
    double ns = metrics_counted(step, COUNTER_CPU_NS);

    if (isfinite(ns))
        return ns / 1e9;
    return step->use.user_s >= 0 && step->use.system_s >= 0 ? step->use.user_s + step->use.system_s
                                                            : NAN;
}

static double slowdown(const struct step *step)
{
    const char *source;

    return step_counts_slowdown(step, &source);
}

static size_t count_cores(const struct packer *packer, const struct step *step)
{
    struct cpus cpus, cores;

    enforce_union(&step->body, ENFORCE_PLACE, &cpus);
    topo_cores_of(packer->world.topo, &cpus, &cores);
    return cpus_count(&cores);
}

/* Returns the fact that the series is; FACTS: it is none. */
static enum fact_id fact_of(enum metrics_id id)
{
    switch (id) {
#define FACT_SERIES(ID, name, type, unit)                                                          \
    case METRICS_STEP_##ID:                                                                        \
        return FACT_##ID;
#include "packer/fact/facts.def"
    default:
        return FACTS;
    }
}

/* Of a live step, as it is now. */
static double level(const struct packer *packer, const struct step *step, enum metrics_id id)
{
    switch (id) {
    case METRICS_STEP_CORES:
        return (double)count_cores(packer, step);
    case METRICS_STEP_TASKS:
        return (double)step->request.ntasks;
    default:
        return slowdown(step);
    }
}

/* ---- series ---- */

static void add_info(struct metrics_text *text, const struct shown *shown)
{
    const struct wire_register *request = &shown->step->request;
    char uid[16];
    const struct metrics_label label[] = {
        shown->label[0],
        shown->label[1],
        {"uid", uid},
        {"account", shown->step->identity.is.account},
        {"program", program_command(request)},
    };

    snprintf(uid, sizeof(uid), "%u", request->uid);
    metrics_text_add(text, &metrics_family[METRICS_STEP], label, 5, 1);
}

static void add_domains(struct metrics_text *text, const struct shown *shown)
{
    const struct step_bill *bill = &shown->step->bill;

    for (size_t d = 0; d < ENERGY_DOMAINS; d++) {
        const struct metrics_label label[] = {
            shown->label[0], shown->label[1], {"domain", energy_domain_name[d]}};

        if (bill->known[d])
            metrics_text_add_micro(text, &metrics_family[METRICS_STEP_DOMAIN_ENERGY], label, 3,
                                   bill->uj[d]);
    }
}

/* Of the policies that have changed something in it. */
static void add_policies(struct metrics_text *text, const struct shown *shown, enum metrics_id id)
{
    for (enum step_policy i = 0; i < STEP_POLICIES; i++) {
        const struct step_effect *effect = &shown->step->inside.effect[i];
        const struct metrics_label label[] = {
            shown->label[0], shown->label[1], {"policy", step_policy_word[i]}};
        double value = id == METRICS_STEP_INSIDE_SECONDS ? effect_s(effect, clock_s())
                                                         : (double)effect->changes;

        if (effect->changes > 0)
            metrics_text_add(text, &metrics_family[id], label, 3, value);
    }
}

/* Levels are of live steps only; what is counted up is shown of those that have ended, too. */
static void add_sample(const struct packer *packer, struct metrics_text *text,
                       const struct shown *shown, enum metrics_id id)
{
    const struct metrics_family *family = &metrics_family[id];
    const struct step *step = shown->step;
    uint64_t uj;

    if (id == METRICS_STEP)
        add_info(text, shown);
    else if (id == METRICS_STEP_DOMAIN_ENERGY)
        add_domains(text, shown);
    else if (id == METRICS_STEP_ENERGY && bill_total(step, &uj))
        metrics_text_add_micro(text, family, shown->label, 2, uj);
    else if (id == METRICS_STEP_CPU)
        metrics_text_add(text, family, shown->label, 2, cpu_s(step));
    else if (id == METRICS_STEP_INSIDE_CHANGES || id == METRICS_STEP_INSIDE_SECONDS)
        add_policies(text, shown, id);
    else if (family->type == METRICS_GAUGE && step->state == STEP_ENDED)
        return;
    else if (fact_of(id) < FACTS)
        metrics_text_add(text, family, shown->label, 2, figure(step, fact_of(id)));
    else if (family->type == METRICS_GAUGE)
        metrics_text_add(text, family, shown->label, 2, level(packer, step, id));
}

void metrics_steps(const struct packer *packer, struct metrics_text *text)
{
    struct choice choice = {.most = packer->world.conf.metrics_steps};

    choice.shown = calloc(choice.most + 1, sizeof(*choice.shown));
    if (!choice.shown) {
        text->failed = true;
        return;
    }
    choose_all(packer, &choice);
    metrics_text_add(text, &metrics_family[METRICS_STEPS_LEFT_OUT], NULL, 0,
                     (double)choice.left_out);
    for (enum metrics_id id = METRICS_STEP; id < METRICS_FAMILIES; id++)
        for (size_t i = 0; i < choice.n; i++)
            add_sample(packer, text, &choice.shown[i], id);
    free(choice.shown);
}
