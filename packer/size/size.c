/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size - see size.h. What NuCore is asked stands in size/model.c, which cores in size/cores.c. */
#include "packer/size/size.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/text.h"
#include "packer/size/answer.h"
#include "packer/size/cores.h"
#include "packer/size/flexible.h"
#include "packer/size/judge.h"
#include "packer/size/stored.h"
#include "packer/size/traffic.h"
#include "packer/size/size_impl.h"
#include "packer/steps/journal.h"
#include "packer/steps/stage.h"

void size_on_node(const struct packer *packer, const struct step *step, size_t i, size_t *cores,
                  size_t *used)
{
    unsigned count[CPUS_MAX];

    size_cores_on_nodes(packer, step, false, count);
    *cores = count[i];
    size_cores_on_nodes(packer, step, true, count);
    *used = count[i];
}

#define SIZE_ASKED_MOST 8 /* times in a row that an answer without proof is asked for anew */

/* ---- what is said of it ---- */

/* Forgets what was found out, but for what its threads were counted by. */
static void forget(const struct packer *packer, struct step *step, const char *reason)
{
    step->size.modelled = false;
    step->size.constraint = NUMEM_NONE;
    step->size.measured = false;
    step->size.gbps = step->size.gbps_all = NAN;
    snprintf(step->size.reason, sizeof(step->size.reason), "%s", reason);
    step->size.others[0] = '\0';
    step->size.others_at = 0;
    sizing_count(packer, step);
}

void size_all(const struct packer *packer, struct step *step, const char *reason)
{
    for (size_t i = 0; i < step->body.ntasks; i++)
        step->body.task[i].use = step->body.task[i].sized = step->body.task[i].home;
    step->size.threads = 0;
    step->size.stored = false;
    step->size.asked = false;
    cpus_zero(&step->size.loop.only);
    forget(packer, step, reason);
}

/* Append to the reason, printf-style. */
static void say(struct step *step, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct step *step, const char *format, ...)
{
    size_t used = strlen(step->size.reason);
    va_list args;

    va_start(args, format);
    vsnprintf(step->size.reason + used, sizeof(step->size.reason) - used, format, args);
    va_end(args);
}

static void say_bounds(const struct sizing *s)
{
    const struct wire_options *o = &s->step->request.options;

    if (o->cores_max == 0)
        return;
    say(s->step, "; cores=%u-%u asked", o->cores_min, o->cores_max);
    if (o->cores_max < s->bounds.most)
        say(s->step, ", but each task has one");
    if (o->cores_min > s->step->size.cores)
        say(s->step, ", but Slurm gave %zu", s->step->size.cores);
}

void size_reason(const struct step *step, bool counts, char *text, size_t size)
{
    const struct step_size *said = &step->size;
    size_t length = strlen(said->reason), at = said->others_at < length ? said->others_at : length;

    snprintf(text, size, "%.*s%s%s", (int)at, said->reason, counts ? said->others : "",
             said->reason + at);
}

/* ---- how many ---- */

/* Without a model: the upper limit alone, from all nodes alike. */
static void take_most(const struct packer *packer, struct sizing *s)
{
    size_t nodes = packer->world.topo->nodes;
    unsigned total = 0, before;

    memset(s->chosen, 0, nodes * sizeof(*s->chosen));
    do {
        before = total;
        for (size_t i = 0; i < nodes && total < s->bounds.most; i++) {
            bool more = s->chosen[i] < s->held[i];

            s->chosen[i] += more;
            total += more;
        }
    } while (total > before);
}

size_t size_threads(const struct step *step, bool used)
{
    size_t n = step->body.ntasks, least = CPUS_MAX;
    struct cpus all = {0};

    for (size_t i = 0; i < n; i++) {
        const struct enforce_task *task = &step->body.task[i];
        const struct cpus *its = used ? &task->use : &task->home;
        size_t own = cpus_count(its);

        cpus_or(&all, its);
        least = own < least ? own : least;
    }
    if (n > 0 && cpus_count(&all) / n < least)
        least = cpus_count(&all) / n;
    return least > 0 ? least : 1;
}

/* A step that starts counts its threads by what it gets; one whose threads follow its cores, by
 * what they may become; one that is flexible, by all that it may ever have. */
static void tell_newcomer(const struct packer *packer, struct step *step)
{
    for (size_t i = 0; i < step->body.ntasks; i++)
        step->body.task[i].use = step->body.task[i].sized;
    step->size.threads = stored_threads(packer, step, size_threads(step, true));
    step->size.stored = step->size.threads > 0;
    if (!step->size.stored)
        step->size.threads = flexible_threads(packer, step, size_threads(step, false));
    if (step->size.threads > 0 || step->size.given == step->size.cores)
        return;
    if (step->request.user_omp_threads)
        say(step, "; OMP_NUM_THREADS is its user's own");
    else
        step->size.threads = size_threads(step, !step->request.options.threads_follow);
}

/* A running step that has other cores now than before is written down; where that fails it keeps
 * what it had. Returns whether it has others. */
static bool commit(const struct sizings *all, struct sizing *s)
{
    struct enforce_step *body = &s->step->body;
    struct berth_error err;
    bool changed = false;

    for (size_t i = 0; s->step != all->newcomer && i < body->ntasks; i++)
        changed |= !cpus_equal(&s->before[i], &body->task[i].sized);
    if (!changed || journal_start(all->packer, s->step, &err) == 0)
        return changed;
    log_error("step %u.%u: %s", s->step->request.id.job, s->step->request.id.step, err.text);
    for (size_t i = 0; i < body->ntasks; i++)
        body->task[i].sized = s->before[i];
    sizing_count(all->packer, s->step);
    return false;
}

/* Lets the step use the cores that were chosen; without memory it keeps those that it has. */
static void deal(const struct sizings *all, struct sizing *s)
{
    if (size_cores_deal(all->packer, s->step, s->chosen, s->bounds.most) < 0)
        say(s->step, "; out of memory");
    sizing_count(all->packer, s->step);
}

/* What the model says of the cores that were dealt, and of all of them. */
/* What limits the step, and what that rests on. */
static void note(const struct topo *topo, const struct size_prediction *got, struct step_size *size)
{
    const struct size_traffic *traffic = got->traffic;

    size->constraint = got->constraint;
    for (size_t k = 0; k < 2; k++)
        size->where[k] = topo->node[got->where[k]].os_index;
    size->matrix = traffic ? traffic->source : SIZE_MATRIX_NOTHING;
    size->measured = traffic && traffic->measured;
    size->disturbed = size->measured && traffic->disturbed;
    size->error = size->measured ? traffic->error : NAN;
    size->measured_s = size->measured ? traffic->seconds : NAN;
}

static void predict(const struct sizings *all, const struct size_model *model)
{
    size_t nodes = all->packer->world.topo->nodes, steps = size_model_steps(model);
    struct size_prediction *got = calloc(steps + 1, sizeof(*got));
    unsigned *cores = calloc(steps * nodes + 1, sizeof(*cores));

    for (int with_all = 0; got && cores && with_all < 2; with_all++) {
        for (size_t s = 0; s < all->n; s++)
            if (all->sizing[s].number != SIZING_NOT_ASKED)
                size_cores_on_nodes(all->packer, all->sizing[s].step, !with_all,
                                    &cores[all->sizing[s].number * nodes]);
        size_model_predict(model, cores, got);
        for (size_t s = 0; s < all->n; s++) {
            struct step_size *size = &all->sizing[s].step->size;

            if (all->sizing[s].number == SIZING_NOT_ASKED)
                continue;
            *(with_all ? &size->gbps_all : &size->gbps) = got[all->sizing[s].number].gbps;
            if (!with_all)
                note(all->packer->world.topo, &got[all->sizing[s].number], size);
            size->modelled = !isnan(size->gbps);
        }
    }
    free(got);
    free(cores);
}

/* How many others were in the question: who may know it is told so there in the sentence. */
static void say_others(const struct sizings *all, struct step_size *size, size_t steps)
{
    size->others_at = strlen(size->reason);
    size->others[0] = '\0';
    if (steps > 1)
        text_append(size->others, sizeof(size->others), ", together with %zu other step%s",
                    steps - 1, steps > 2 ? "s" : "");
    if (all->loads > 0)
        text_append(size->others, sizeof(size->others), ", beside %zu that %s not sized",
                    all->loads, all->loads > 1 ? "are" : "is");
}

static void say_how(const struct sizings *all, struct sizing *s, size_t steps, bool proven)
{
    say(s->step, "NuCore: the fewest cores with the greatest bandwidth%s",
        proven ? "" : ", of those looked at in so short a time");
    say_others(all, &s->step->size, steps);
    say_bounds(s);
}

/* By the model: all whom it knows. Returns whether a running step has changed. */
static bool by_model(const struct sizings *all, const struct size_model *model, bool proven)
{
    bool changed = false;

    for (size_t s = 0; s < all->n; s++) {
        struct sizing *sizing = &all->sizing[s];

        if (sizing->number == SIZING_NOT_ASKED)
            continue;
        forget(all->packer, sizing->step, "");
        sizing->step->size.asked = true;
        say_how(all, sizing, size_model_steps(model), proven);
        deal(all, sizing);
    }
    predict(all, model);
    for (size_t s = 0; s < all->n; s++)
        changed |= commit(all, &all->sizing[s]);
    return changed;
}

/* By its bounds alone: the newcomer of whom the model knows nothing. */
static void by_bounds(const struct sizings *all, const struct berth_error *err)
{
    for (size_t s = 0; s < all->n; s++) {
        struct sizing *sizing = &all->sizing[s];

        if (sizing->step != all->newcomer)
            continue;
        say(sizing->step, "not by bandwidth: %.160s", err->text);
        say_bounds(sizing);
        if (sizing->bounds.most == sizing->step->size.cores)
            continue;
        take_most(all->packer, sizing);
        deal(all, sizing);
    }
}

/* A running step whose phase nobody knows (size/loop.h), nor the store anything of it, gets all
 * back. Returns whether there is one. */
static bool give_back(const struct sizings *all)
{
    bool changed = false;

    for (size_t s = 0; s < all->n; s++) {
        struct sizing *sizing = &all->sizing[s];
        struct enforce_step *body = &sizing->step->body;

        if (sizing->step == all->newcomer || sizing->number != SIZING_NOT_ASKED ||
            !sizing->step->size.loop.on)
            continue;
        for (size_t i = 0; i < body->ntasks; i++)
            body->task[i].sized = body->task[i].home;
        forget(all->packer, sizing->step, "what it does now is not known");
        say_bounds(sizing);
        if (sizing->bounds.most < sizing->step->size.cores) {
            take_most(all->packer, sizing);
            deal(all, sizing);
        }
        changed |= commit(all, sizing);
    }
    return changed;
}

static bool is_known(const struct sizings *all, const struct step *step)
{
    for (size_t s = 0; s < all->n; s++)
        if (all->sizing[s].step == step)
            return all->sizing[s].number != SIZING_NOT_ASKED;
    return false;
}

/* All have been asked about where they stand, also whom the model does not know any more. */
static void note_moves(const struct sizings *all)
{
    for (size_t s = 0; s < all->n; s++)
        all->sizing[s].step->size.moves = all->sizing[s].step->enacted.moves;
}

static bool solve(const struct packer *packer, struct step *newcomer)
{
    struct berth_error err = {""};
    struct size_model *model = NULL;
    struct sizings all;
    bool changed = false, proven = true;
    enum size_found found = SIZE_FOUND_NOTHING;

    if (sizings_collect(&all, packer, newcomer) < 0)
        berth_no_memory(&err);
    else if (all.n > 0)
        model = size_model_new(packer, &err);
    if (model) {
        struct berth_error why = {""};

        sizings_ask(&all, model, &err);
        sizings_bound(&all, model);
        found = size_answer_find(&all, model, &proven, &why);
        if (found == SIZE_FOUND_NOTHING && is_known(&all, newcomer))
            err = why;
        changed = give_back(&all);
    }
    if (found != SIZE_FOUND_NOTHING)
        changed |= by_model(&all, model, proven || found == SIZE_FOUND_KEPT);
    if (newcomer && (found == SIZE_FOUND_NOTHING || !is_known(&all, newcomer)))
        by_bounds(&all, &err);
    packer->state->size->asked = newcomer || proven ? 0 : packer->state->size->asked + 1;
    packer->state->size->later = !proven && packer->state->size->asked < SIZE_ASKED_MOST;
    note_moves(&all);
    size_model_free(model);
    sizings_free(&all);
    return changed;
}

bool size_node(const struct packer *packer, struct step *newcomer)
{
    const char *reason;
    bool changed;

    if (newcomer)
        size_judge_begin(packer, newcomer);
    reason = newcomer ? sizing_reason(newcomer) : NULL;
    if (newcomer)
        size_all(packer, newcomer, reason ? reason : "");
    changed = solve(packer, newcomer);
    if (newcomer)
        tell_newcomer(packer, newcomer);
    return changed;
}

bool size_due(const struct packer *packer)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->size.asked && !sizing_reason(step) && step->size.moves != step->enacted.moves)
        return true;
    return packer->state->size->later;
}

bool size_turn(const struct packer *packer)
{
    return size_due(packer) && size_node(packer, NULL);
}

/* ---- the stage ---- */

static void size_step(const struct packer *packer, struct step *step)
{
    size_node(packer, step);
}

/* The journal has it, and its threads were counted by it; it is asked about again when the step
 * moves, as before. */
static void keep_size(const struct packer *packer, struct step *step)
{
    (void)packer;
    step->size.asked = step->size.modelled;
    step->size.moves = step->enacted.moves;
}

static void size_later(const struct packer *packer, struct turn *turn)
{
    turn->places |= size_turn(packer);
}

static int open_state(const struct packer *packer, struct berth_error *err)
{
    struct size_state *size = calloc(1, sizeof(*size));

    if (!size)
        return berth_no_memory(err);
    size->patience_s = 0.01;
    size->together_s = 0.0005;
    size->unhurried_s = 0.04; /* a launch that comes just then is answered in time */
    packer->state->size = size;
    return 0;
}

static void close_state(const struct packer *packer)
{
    free(packer->state->size);
}

const struct stage size_stage = {
    .name = "size",
    .open = open_state,
    .close = close_state,
    .begin = size_step,
    .adopt = keep_size,
    .turn = size_later,
};
