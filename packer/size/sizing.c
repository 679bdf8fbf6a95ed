/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sizing - see sizing.h */
#include "packer/size/sizing.h"

#include <math.h>
#include <stdlib.h>

#include "packer/base/array.h"
#include "packer/size/cores.h"
#include "packer/size/loads.h"
#include "packer/size/size.h"
#include "packer/steps/journal.h"
#include "packer/steps/stand.h"
#include "packer/wire/wire_program.h"

/* ---- bounds ---- */

static unsigned lesser(size_t a, size_t b)
{
    return (unsigned)(a < b ? a : b);
}

static bool stands_on_node(const struct packer *packer, const struct cpus *home, size_t node)
{
    struct cpus image;

    stand_image(packer, packer->pool, home, &image);
    return cpus_subset(&image, &packer->world.topo->node[node].cpus);
}

/* A core of its node for each task that has cores of one node only. */
static void find_needed(const struct packer *packer, struct sizing *s)
{
    for (size_t i = 0; i < packer->world.topo->nodes; i++) {
        for (size_t t = 0; t < s->step->body.ntasks; t++)
            s->needed[i] += stands_on_node(packer, &s->step->body.task[t].home, i);
        s->needed[i] = lesser(s->needed[i], s->held[i]);
    }
}

/* The cores that the step has a use for: a running one has no more threads than it was told. */
static size_t useful_cores(const struct packer *packer, const struct step *step)
{
    size_t threads = step->size.threads * step->body.ntasks;
    size_t of_core = packer->world.topo->core[0].threads;

    if (threads == 0 || of_core == 0)
        return step->size.cores;
    return lesser(step->size.cores, (threads + of_core - 1) / of_core);
}

/* One core for each task, and what cores=MIN-MAX says, as far as there are so many. */
static void find_bounds(const struct packer *packer, struct sizing *s)
{
    const struct wire_options *o = &s->step->request.options;
    size_t cores = useful_cores(packer, s->step);
    unsigned tasks = lesser(s->step->body.ntasks, cores);

    s->bounds.most = lesser(o->cores_max > 0 ? o->cores_max : cores, cores);
    s->bounds.most = s->bounds.most < tasks ? tasks : s->bounds.most;
    s->bounds.least = lesser(o->cores_min > tasks ? o->cores_min : tasks, s->bounds.most);
    find_needed(packer, s);
    s->bounds.needed = s->needed;
}

/* ---- whose question it is ---- */

const char *sizing_reason(const struct step *step)
{
    if (!step->request.options.size)
        return "not asked to size it";
    if (step->state != STEP_PLACED && step->state != STEP_OBSERVED)
        return "left alone";
    if (step_is_shell(step))
        return "a shell is not sized, the steps it starts are";
    if (wire_program_launches(step->request.pin_by) && !step->body.ranks)
        return "a launcher is not sized, the ranks that it starts are";
    if (step->late && !step->body.ranks)
        return SIZE_LATE;
    if (step->size.verdict.refused)
        return "on fewer cores its program lost more speed than it may, within the last hour";
    return NULL;
}

void sizing_count(const struct packer *packer, struct step *step)
{
    struct cpus cpus;

    size_cores_union(step, false, &cpus);
    step->size.cores = size_cores_touched(packer->world.topo, &cpus);
    size_cores_union(step, true, &cpus);
    step->size.given = size_cores_touched(packer->world.topo, &cpus);
}

void sizings_free(struct sizings *all)
{
    for (size_t s = 0; s < all->n; s++) {
        free(all->sizing[s].held);
        free(all->sizing[s].before);
    }
    free(all->sizing);
}

static int take_part(struct sizings *all, struct step *step)
{
    size_t nodes = all->packer->world.topo->nodes + 1; /* calloc(0) may be NULL */
    struct sizing s = {.step = step, .number = SIZING_NOT_ASKED};

    s.held = calloc(4 * nodes, sizeof(*s.held));
    s.before = calloc(step->body.ntasks + 1, sizeof(*s.before));
    if (!s.held || !s.before || array_grow(&all->sizing, &all->room, all->n + 1, sizeof(s)) < 0) {
        free(s.held);
        free(s.before);
        return -1;
    }
    for (size_t i = 0; i < step->body.ntasks; i++)
        s.before[i] = step->body.task[i].sized;
    s.now = s.held + nodes;
    s.chosen = s.held + 2 * nodes;
    s.needed = s.held + 3 * nodes;
    size_cores_on_nodes(all->packer, step, false, s.held);
    size_cores_on_nodes(all->packer, step, true, s.now);
    sizing_count(all->packer, step);
    find_bounds(all->packer, &s);
    all->sizing[all->n++] = s;
    return 0;
}

/* An observed step runs where Slurm put it, whatever would be best: it is looked at beside the
 * others when it comes. */
int sizings_collect(struct sizings *all, const struct packer *packer, struct step *newcomer)
{
    struct step *step;

    *all = (struct sizings){.packer = packer, .newcomer = newcomer};
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (!sizing_reason(step) && (step == newcomer || step_movable(step)) &&
        take_part(all, step) < 0)
        return -1;
    return 0;
}

/* ---- what the model is told ---- */

static bool is_asked(const struct sizings *all, const struct step *step)
{
    for (size_t s = 0; s < all->n; s++)
        if (all->sizing[s].step == step)
            return all->sizing[s].number != SIZING_NOT_ASKED;
    return false;
}

static void ask_loads(struct sizings *all, struct size_model *model)
{
    double *gbps = calloc(all->packer->world.topo->nodes + 1, sizeof(*gbps));
    const struct step *step;

    all->loads = 0;
    if (!gbps)
        return;
    TAILQ_FOREACH(step, &all->packer->steps->live, link)
    if (!is_asked(all, step))
        all->loads += size_loads_add(all->packer, step, gbps);
    size_model_load(model, gbps);
    free(gbps);
}

int sizing_undo(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct enforce_step *body = &step->body;
    struct cpus *before = calloc(body->ntasks + 1, sizeof(*before));
    int rc;

    if (!before)
        return berth_no_memory(err);
    for (size_t i = 0; i < body->ntasks; i++) {
        before[i] = body->task[i].sized;
        body->task[i].sized = body->task[i].home;
    }
    sizing_count(packer, step);
    rc = journal_start(packer, step, err);
    for (size_t i = 0; rc < 0 && i < body->ntasks; i++)
        body->task[i].sized = before[i];
    sizing_count(packer, step);
    free(before);
    return rc;
}

void sizings_ask(struct sizings *all, struct size_model *model, struct berth_error *err)
{
    struct berth_error why;

    for (size_t s = 0; s < all->n; s++) {
        struct sizing *sizing = &all->sizing[s];

        sizing->number = SIZING_NOT_ASKED;
        if (size_model_add(model, sizing->step, sizing->held, &why) == 0)
            sizing->number = size_model_steps(model) - 1;
        else if (sizing->step == all->newcomer)
            *err = why;
    }
    if (size_model_steps(model) > 0)
        ask_loads(all, model);
}

#define ROUNDING 1e-6 /* of a prediction: it is a sum of others */

void sizings_bound(struct sizings *all, const struct size_model *model)
{
    size_t nodes = all->packer->world.topo->nodes, steps = size_model_steps(model);
    struct size_prediction *got = calloc(steps + 1, sizeof(*got));
    unsigned *held = calloc(steps * nodes + 1, sizeof(*held));

    for (size_t s = 0; got && held && s < all->n; s++)
        for (size_t i = 0; all->sizing[s].number != SIZING_NOT_ASKED && i < nodes; i++)
            held[all->sizing[s].number * nodes + i] = all->sizing[s].held[i];
    if (got && held)
        size_model_predict(model, held, got);
    for (size_t s = 0; got && held && s < all->n; s++) {
        struct sizing *sizing = &all->sizing[s];
        double part = (double)sizing->bounds.most / (double)sizing->step->size.cores;

        if (sizing->number != SIZING_NOT_ASKED && !isnan(got[sizing->number].gbps))
            sizing->bounds.floor_gbps =
                got[sizing->number].gbps * part *
                (1 - ROUNDING - wire_size_loss(&sizing->step->request.options));
    }
    free(got);
    free(held);
}
