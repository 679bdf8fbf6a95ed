/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size - see size.h. What NuCore is asked stands in size/model.c, which cores in size/cores.c. */
#include "packer/size/size.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/size/cores.h"
#include "packer/size/model.h"
#include "packer/steps/journal.h"
#include "packer/steps/stand.h"

#define NOT_ASKED ((size_t)-1)

/* A step that is sized. */
struct sizing {
    struct step *step;
    size_t number; /* in the model; NOT_ASKED: it is not in it */
    bool unknown;  /* the model knows nothing of it */
    /* Of each NUMA node: cores that it has, that it uses now, shall use, must use. */
    unsigned *held, *now, *chosen, *needed;
    struct size_bounds bounds;
    struct cpus *before; /* [tasks] their `sized` until now */
};

/* All of them. */
struct node {
    struct packer *packer;
    struct step *newcomer; /* NULL: nobody has come */
    size_t n, room;
    struct sizing *sizing; /* [n] */
};

void size_on_node(const struct packer *packer, const struct step *step, size_t i, size_t *cores,
                  size_t *used)
{
    unsigned count[CPUS_MAX];

    size_cores_on_nodes(packer, step, false, count);
    *cores = count[i];
    size_cores_on_nodes(packer, step, true, count);
    *used = count[i];
}

/* ---- what is said of it ---- */

static void count_given(const struct packer *packer, struct step *step)
{
    struct cpus cpus;

    size_cores_union(step, false, &cpus);
    step->size.cores = size_cores_touched(packer->topo, &cpus);
    size_cores_union(step, true, &cpus);
    step->size.given = size_cores_touched(packer->topo, &cpus);
}

/* Forgets what was found out, but for what its threads were counted by. */
static void forget(const struct packer *packer, struct step *step, const char *reason)
{
    step->size.modelled = false;
    step->size.constraint = NUMEM_NONE;
    step->size.gbps = step->size.gbps_all = NAN;
    snprintf(step->size.reason, sizeof(step->size.reason), "%s", reason);
    count_given(packer, step);
}

void size_all(const struct packer *packer, struct step *step, const char *reason)
{
    for (size_t i = 0; i < step->body.ntasks; i++)
        step->body.task[i].use = step->body.task[i].sized = step->body.task[i].home;
    step->size.threads = 0;
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

/* ---- bounds ---- */

static unsigned lesser(size_t a, size_t b)
{
    return (unsigned)(a < b ? a : b);
}

static bool stands_on_node(const struct packer *packer, const struct cpus *home, size_t node)
{
    struct cpus image;

    stand_image(packer, &packer->pool, home, &image);
    return cpus_subset(&image, &packer->topo->node[node].cpus);
}

/* A core of its node for each task that has cores of one node only. */
static void find_needed(const struct packer *packer, struct sizing *s)
{
    for (size_t i = 0; i < packer->topo->nodes; i++) {
        for (size_t t = 0; t < s->step->body.ntasks; t++)
            s->needed[i] += stands_on_node(packer, &s->step->body.task[t].home, i);
        s->needed[i] = lesser(s->needed[i], s->held[i]);
    }
}

/* The cores that the step has a use for: a running one has no more threads than it was told. */
static size_t useful_cores(const struct packer *packer, const struct step *step)
{
    size_t threads = step->size.threads * step->body.ntasks;
    size_t of_core = packer->topo->core[0].threads;

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

/* Why the step is not to be sized, or NULL. */
static const char *reason_for_all(const struct step *step)
{
    if (!step->request.options.size)
        return "not asked to size it";
    if (step->state != STEP_PLACED && step->state != STEP_OBSERVED)
        return "left alone";
    if (step_is_shell(step))
        return "a shell is not sized, the steps it starts are";
    if (step->late)
        return SIZE_LATE;
    return NULL;
}

static void node_free(struct node *node)
{
    for (size_t s = 0; s < node->n; s++) {
        free(node->sizing[s].held);
        free(node->sizing[s].before);
    }
    free(node->sizing);
}

static int take_part(struct node *node, struct step *step)
{
    size_t nodes = node->packer->topo->nodes + 1; /* calloc(0) may be NULL */
    struct sizing s = {.step = step, .number = NOT_ASKED};

    s.held = calloc(4 * nodes, sizeof(*s.held));
    s.before = calloc(step->body.ntasks + 1, sizeof(*s.before));
    if (!s.held || !s.before ||
        array_grow(&node->sizing, &node->room, node->n + 1, sizeof(s)) < 0) {
        free(s.held);
        free(s.before);
        return -1;
    }
    for (size_t i = 0; i < step->body.ntasks; i++)
        s.before[i] = step->body.task[i].sized;
    s.now = s.held + nodes;
    s.chosen = s.held + 2 * nodes;
    s.needed = s.held + 3 * nodes;
    size_cores_on_nodes(node->packer, step, false, s.held);
    size_cores_on_nodes(node->packer, step, true, s.now);
    count_given(node->packer, step);
    find_bounds(node->packer, &s);
    node->sizing[node->n++] = s;
    return 0;
}

/* The newcomer and the steps that run, as far as they are sized; or the newcomer alone. */
static int collect(struct node *node, bool alone)
{
    struct step *step;

    TAILQ_FOREACH(step, &node->packer->steps.live, link)
    {
        bool runs = step != node->newcomer;

        if (reason_for_all(step) || (runs && (alone || !step_movable(step))))
            continue;
        if (take_part(node, step) < 0)
            return -1;
    }
    return 0;
}

/* ---- how many ---- */

/* Without a model: the upper limit alone, from all nodes alike. */
static void take_most(const struct packer *packer, struct sizing *s)
{
    size_t nodes = packer->topo->nodes;
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

/* So many threads fit on the CPUs of each task; tasks may share theirs. */
static size_t count_threads(const struct step *step)
{
    size_t n = step->body.ntasks, least;
    struct cpus cpus;

    size_cores_union(step, true, &cpus);
    least = cpus_count(&cpus) / n;
    for (size_t i = 0; i < n; i++) {
        size_t own = cpus_count(&step->body.task[i].sized);

        least = own < least ? own : least;
    }
    return least > 0 ? least : 1;
}

/* A step that starts counts its threads by what it gets. */
static void tell_newcomer(struct step *step)
{
    for (size_t i = 0; i < step->body.ntasks; i++)
        step->body.task[i].use = step->body.task[i].sized;
    if (step->size.given == step->size.cores)
        return;
    if (step->request.user_omp_threads)
        say(step, "; OMP_NUM_THREADS is its user's own");
    else
        step->size.threads = count_threads(step);
}

/* A running step that has other cores now than before is written down; where that fails it keeps
 * what it had. Returns whether it has others. */
static bool commit(struct node *node, struct sizing *s)
{
    struct enforce_step *body = &s->step->body;
    struct berth_error err;
    bool changed = false;

    for (size_t i = 0; s->step != node->newcomer && i < body->ntasks; i++)
        changed |= !cpus_equal(&s->before[i], &body->task[i].sized);
    if (!changed || journal_start(node->packer, s->step, &err) == 0)
        return changed;
    log_error("step %u.%u: %s", s->step->request.id.job, s->step->request.id.step, err.text);
    for (size_t i = 0; i < body->ntasks; i++)
        body->task[i].sized = s->before[i];
    count_given(node->packer, s->step);
    return false;
}

/* Asks for all that the model knows; false and err: there is no answer. */
static bool ask(struct node *node, const struct size_model *model, bool *proven,
                struct berth_error *err)
{
    size_t nodes = node->packer->topo->nodes, steps = size_model_steps(model);
    struct size_bounds *bounds = calloc(steps + 1, sizeof(*bounds));
    unsigned *chosen = calloc(steps * nodes + 1, sizeof(*chosen));
    int rc = -1;

    for (size_t s = 0; bounds && s < node->n; s++)
        if (node->sizing[s].number != NOT_ASKED)
            bounds[node->sizing[s].number] = node->sizing[s].bounds;
    if (bounds && chosen)
        rc = size_model_choose(model, bounds, node->packer->size_patience_s, chosen, proven, err);
    else
        berth_no_memory(err);
    for (size_t s = 0; rc == 0 && s < node->n; s++)
        if (node->sizing[s].number != NOT_ASKED)
            memcpy(node->sizing[s].chosen, &chosen[node->sizing[s].number * nodes],
                   nodes * sizeof(*chosen));
    free(bounds);
    free(chosen);
    return rc == 0;
}

/* What the model says of the cores that were dealt, and of all of them. */
static void predict(const struct node *node, const struct size_model *model)
{
    size_t nodes = node->packer->topo->nodes, steps = size_model_steps(model);
    struct size_prediction *got = calloc(steps + 1, sizeof(*got));
    unsigned *cores = calloc(steps * nodes + 1, sizeof(*cores));

    for (int all = 0; got && cores && all < 2; all++) {
        for (size_t s = 0; s < node->n; s++)
            if (node->sizing[s].number != NOT_ASKED)
                size_cores_on_nodes(node->packer, node->sizing[s].step, !all,
                                    &cores[node->sizing[s].number * nodes]);
        size_model_predict(model, cores, got);
        for (size_t s = 0; s < node->n; s++) {
            struct step_size *size = &node->sizing[s].step->size;

            if (node->sizing[s].number == NOT_ASKED)
                continue;
            *(all ? &size->gbps_all : &size->gbps) = got[node->sizing[s].number].gbps;
            if (!all)
                size->constraint = got[node->sizing[s].number].constraint;
            size->modelled = !isnan(size->gbps);
        }
    }
    free(got);
    free(cores);
}

/* Adds who can be asked about. Of the newcomer err says why he is not. */
static void add_all(struct node *node, struct size_model *model, struct berth_error *err)
{
    struct berth_error why;

    for (size_t s = 0; s < node->n; s++) {
        struct sizing *sizing = &node->sizing[s];

        if (size_model_add(model, sizing->step, sizing->held, &why) == 0)
            sizing->number = size_model_steps(model) - 1;
        else
            sizing->unknown = true;
        if (sizing->unknown && sizing->step == node->newcomer)
            *err = why;
    }
}

/* By the model: all whom it knows. */
static bool by_model(struct node *node, const struct size_model *model, bool proven)
{
    size_t steps = size_model_steps(model);
    bool changed = false;

    for (size_t s = 0; s < node->n; s++) {
        struct step *step = node->sizing[s].step;

        if (node->sizing[s].number == NOT_ASKED)
            continue;
        forget(node->packer, step, "");
        say(step, "NuCore: the fewest cores with the greatest bandwidth%s",
            proven ? "" : ", of those looked at in 10 ms");
        if (steps > 1)
            say(step, ", together with %zu other step%s", steps - 1, steps > 2 ? "s" : "");
        say_bounds(&node->sizing[s]);
        size_cores_deal(node->packer, step, node->sizing[s].chosen, node->sizing[s].bounds.most);
        count_given(node->packer, step);
    }
    predict(node, model);
    for (size_t s = 0; s < node->n; s++)
        changed |= commit(node, &node->sizing[s]);
    return changed;
}

/* By its bounds alone: the newcomer of whom the model knows nothing. */
static void by_bounds(struct node *node, const struct berth_error *err)
{
    for (size_t s = 0; s < node->n; s++) {
        struct sizing *sizing = &node->sizing[s];

        if (sizing->step != node->newcomer || sizing->number != NOT_ASKED)
            continue;
        say(sizing->step, "not by bandwidth: %.160s", err->text);
        say_bounds(sizing);
        if (sizing->bounds.most == sizing->step->size.cores)
            continue;
        take_most(node->packer, sizing);
        size_cores_deal(node->packer, sizing->step, sizing->chosen, sizing->bounds.most);
        count_given(node->packer, sizing->step);
    }
}

/* A running step whose phase nobody knows (size/loop.h), nor the store anything of it, gets all
 * back.
 */
static bool give_back(struct node *node)
{
    bool changed = false;

    for (size_t s = 0; s < node->n; s++) {
        struct sizing *sizing = &node->sizing[s];
        struct enforce_step *body = &sizing->step->body;

        if (sizing->step == node->newcomer || !sizing->unknown || !sizing->step->size.loop.on)
            continue;
        for (size_t i = 0; i < body->ntasks; i++)
            body->task[i].sized = body->task[i].home;
        forget(node->packer, sizing->step, "what it does now is not known");
        say_bounds(sizing);
        if (sizing->bounds.most < sizing->step->size.cores) {
            take_most(node->packer, sizing);
            size_cores_deal(node->packer, sizing->step, sizing->chosen, sizing->bounds.most);
            count_given(node->packer, sizing->step);
        }
        changed |= commit(node, sizing);
    }
    return changed;
}

static void nobody_is_asked(struct node *node)
{
    for (size_t s = 0; s < node->n; s++)
        node->sizing[s].number = NOT_ASKED;
}

/* Returns whether a running step has changed; *later: nobody could be asked together so soon. */
static bool solve(struct node *node, bool alone, bool *later)
{
    struct berth_error err = {""};
    struct size_model *model = NULL;
    bool changed = false, proven = false, found = false;

    if (collect(node, alone) < 0)
        berth_no_memory(&err);
    else if (node->n > 0)
        model = size_model_new(node->packer, &err);
    if (model)
        add_all(node, model, &err);
    if (model && size_model_steps(model) > 0)
        found = ask(node, model, &proven, &err);
    *later = model && size_model_steps(model) > 1 && !proven;
    if (*later && node->newcomer && !alone)
        goto out;
    if (!found)
        nobody_is_asked(node);
    else
        changed = by_model(node, model, proven);
    by_bounds(node, &err);
    changed |= give_back(node);
out:
    size_model_free(model);
    node_free(node);
    return changed;
}

bool size_node(struct packer *packer, struct step *newcomer)
{
    const char *reason = newcomer ? reason_for_all(newcomer) : NULL;
    struct node node = {.packer = packer, .newcomer = newcomer};
    bool later, changed;

    if (newcomer)
        size_all(packer, newcomer, reason ? reason : "");
    packer->size_later = false;
    changed = solve(&node, newcomer && newcomer->state == STEP_OBSERVED, &later);
    if (later && newcomer) {
        packer->size_later = true;
        node = (struct node){.packer = packer, .newcomer = newcomer};
        solve(&node, true, &later);
    }
    if (newcomer)
        tell_newcomer(newcomer);
    return changed;
}

bool size_turn(struct packer *packer)
{
    return packer->size_later && size_node(packer, NULL);
}
