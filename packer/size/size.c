/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size - see size.h. What NuCore is asked stands in size/model.c. */
#include "packer/size/size.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/size/model.h"

/* ---- cores of a step ---- */

/* The NUMA node of a core; topo->nodes where it has none. */
static size_t node_of(const struct topo *topo, size_t core)
{
    size_t i = 0;

    while (i < topo->nodes && !cpus_intersect(&topo->core[core].cpus, &topo->node[i].cpus))
        i++;
    return i;
}

/* How many cores of `within` (NULL: anywhere) the CPUs touch. */
static size_t count_cores(const struct topo *topo, const struct cpus *cpus,
                          const struct cpus *within)
{
    size_t count = 0;

    for (size_t core = 0; core < topo->cores; core++)
        count += cpus_intersect(&topo->core[core].cpus, cpus) &&
                 (!within || cpus_intersect(&topo->core[core].cpus, within));
    return count;
}

static void union_of(const struct step *step, bool used, struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t i = 0; i < step->body.ntasks; i++)
        cpus_or(cpus, used ? &step->body.task[i].use : &step->body.task[i].home);
}

void size_on_node(const struct packer *packer, const struct step *step, size_t i, size_t *cores,
                  size_t *used)
{
    const struct cpus *node = &packer->topo->node[i].cpus;
    struct cpus cpus;

    union_of(step, false, &cpus);
    *cores = count_cores(packer->topo, &cpus, node);
    union_of(step, true, &cpus);
    *used = count_cores(packer->topo, &cpus, node);
}

void size_all(const struct packer *packer, struct step *step, const char *reason)
{
    struct cpus home;

    for (size_t i = 0; i < step->body.ntasks; i++)
        step->body.task[i].use = step->body.task[i].sized = step->body.task[i].home;
    union_of(step, false, &home);
    step->size = (struct step_size){.gbps = NAN, .gbps_all = NAN};
    step->size.cores = step->size.given = count_cores(packer->topo, &home, NULL);
    snprintf(step->size.reason, sizeof(step->size.reason), "%s", reason);
}

/* ---- which cores ---- */

struct sizing {
    const struct packer *packer;
    struct step *step;
    unsigned *held, *chosen, *needed; /* [NUMA nodes] cores that it has, shall use, must use */
    struct size_bounds bounds;
    struct cpus picked;
};

/* How many cores the step has on each NUMA node, or how many of them it uses. */
static void count_on_nodes(const struct sizing *s, bool used, unsigned *count)
{
    const struct topo *topo = s->packer->topo;
    struct cpus cpus;

    union_of(s->step, used, &cpus);
    for (size_t i = 0; i < topo->nodes; i++)
        count[i] = (unsigned)count_cores(topo, &cpus, &topo->node[i].cpus);
}

/* How many other steps use the core: those that Slurm let onto the same ones (srun --overlap). */
static size_t others_on(const struct sizing *s, size_t core)
{
    const struct step *other;
    size_t count = 0;

    TAILQ_FOREACH(other, &s->packer->steps.live, link)
    for (size_t i = 0; other != s->step && i < other->body.ntasks; i++)
        count += cpus_intersect(&other->body.task[i].use, &s->packer->topo->core[core].cpus);
    return count;
}

/* The core of these CPUs to use next: on the node of which most are still to be used, the one that
 * fewest others use. topo->cores when all are used. */
static size_t next_core(const struct sizing *s, const struct cpus *home)
{
    const struct topo *topo = s->packer->topo;
    size_t best = topo->cores, best_others = 0;
    unsigned best_left = 0;

    for (size_t core = 0; core < topo->cores; core++) {
        const struct cpus *cpus = &topo->core[core].cpus;
        size_t node = node_of(topo, core), others;
        unsigned left = node < topo->nodes ? s->chosen[node] : 0;

        if (!cpus_intersect(cpus, home) || cpus_intersect(cpus, &s->picked))
            continue;
        others = others_on(s, core);
        if (best < topo->cores &&
            (left < best_left || (left == best_left && others >= best_others)))
            continue;
        best = core;
        best_left = left;
        best_others = others;
    }
    return best;
}

/* Let a task use one more of its cores; false: it uses all. */
static bool pick(struct sizing *s, const struct cpus *home)
{
    const struct topo *topo = s->packer->topo;
    size_t core = next_core(s, home), node;

    if (core == topo->cores)
        return false;
    node = node_of(topo, core);
    if (node < topo->nodes && s->chosen[node] > 0)
        s->chosen[node]--;
    cpus_or(&s->picked, &topo->core[core].cpus);
    return true;
}

/* Deal the cores to the tasks in turn, to each as many as to the others if the bounds allow it:
 * they wait for each other. Empties chosen. */
static void deal(struct sizing *s, unsigned total)
{
    struct enforce_step *body = &s->step->body;
    unsigned n = (unsigned)body->ntasks, odd = total % n;
    bool more = true;

    if (odd > 0 && total - odd + n <= s->bounds.most)
        total += n - odd;
    while (more && total > 0) {
        more = false;
        for (size_t i = 0; i < n && total > 0; i++)
            if (pick(s, &body->task[i].home)) {
                more = true;
                total--;
            }
    }
    for (size_t i = 0; i < n; i++) {
        struct enforce_task *task = &body->task[i];

        cpus_and(&task->use, &s->picked);
        task->sized = task->use;
    }
}

/* So many threads fit on the CPUs of each task; tasks may share theirs. */
static size_t count_threads(const struct step *step)
{
    size_t n = step->body.ntasks, least;
    struct cpus use;

    union_of(step, true, &use);
    least = cpus_count(&use) / n;
    for (size_t i = 0; i < n; i++) {
        size_t cpus = cpus_count(&step->body.task[i].use);

        least = cpus < least ? cpus : least;
    }
    return least > 0 ? least : 1;
}

/* ---- how many ---- */

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

static unsigned lesser(size_t a, size_t b)
{
    return (unsigned)(a < b ? a : b);
}

/* A core of its node for each task that has cores of one node only. */
static void find_needed(struct sizing *s)
{
    const struct topo *topo = s->packer->topo;

    for (size_t i = 0; i < topo->nodes; i++) {
        for (size_t t = 0; t < s->step->body.ntasks; t++)
            s->needed[i] += cpus_subset(&s->step->body.task[t].home, &topo->node[i].cpus);
        s->needed[i] = lesser(s->needed[i], s->held[i]);
    }
}

/* One core for each task, and what cores=MIN-MAX says, as far as there are so many. */
static void find_bounds(struct sizing *s)
{
    const struct wire_options *o = &s->step->request.options;
    size_t cores = s->step->size.cores;
    unsigned tasks = lesser(s->step->body.ntasks, cores);

    s->bounds.most = lesser(o->cores_max > 0 ? o->cores_max : cores, cores);
    s->bounds.most = s->bounds.most < tasks ? tasks : s->bounds.most;
    s->bounds.least = lesser(o->cores_min > tasks ? o->cores_min : tasks, s->bounds.most);
    find_needed(s);
    s->bounds.needed = s->needed;
    s->bounds.patience_s = s->packer->size_patience_s;
}

/* Without a model: the upper limit alone, from all nodes alike. */
static void take_most(struct sizing *s)
{
    size_t nodes = s->packer->topo->nodes;
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

/* What the model says of the cores that were dealt, and of all. */
static void predict(struct sizing *s, const struct size_model *model)
{
    struct step_size *size = &s->step->size;

    count_on_nodes(s, true, s->chosen);
    size->gbps = size_model_predict(model, s->chosen, &size->constraint);
    size->gbps_all = size_model_predict(model, s->held, NULL);
    size->modelled = !isnan(size->gbps);
}

/* Fill chosen by the model, if there is one, else by the bounds; says which. How many in all. */
static unsigned choose(struct sizing *s, const struct size_model *model, struct berth_error *err)
{
    unsigned total = 0;
    bool proven;

    if (!model || size_model_choose(model, &s->bounds, s->chosen, &proven, err) < 0) {
        take_most(s);
        say(s->step, "not by bandwidth: %.160s", err->text);
        return s->bounds.most;
    }
    for (size_t i = 0; i < s->packer->topo->nodes; i++)
        total += s->chosen[i];
    say(s->step, "NuCore: the fewest cores with the greatest bandwidth%s",
        proven ? "" : ", of those looked at in 10 ms");
    return total;
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

/* Fewer cores: which, and how many threads. */
static void shrink(struct sizing *s, unsigned total)
{
    struct step *step = s->step;
    struct cpus use;

    deal(s, total);
    union_of(step, true, &use);
    step->size.given = count_cores(s->packer->topo, &use, NULL);
    if (step->request.user_omp_threads)
        say(step, "; OMP_NUM_THREADS is its user's own");
    else if (step->size.given < step->size.cores)
        step->size.threads = count_threads(step);
}

static void solve(struct sizing *s)
{
    struct berth_error err = {""};
    struct size_model *model = size_model_new(s->packer, s->step, s->held, &err);
    unsigned total;

    find_bounds(s);
    total = choose(s, model, &err);
    say_bounds(s);
    if (total < s->step->size.cores)
        shrink(s, total);
    if (model)
        predict(s, model);
    size_model_free(model);
}

/* Why the step is not to be sized, or NULL. */
static const char *reason_for_all(const struct step *step)
{
    if (!step->request.options.size)
        return "not asked to size it";
    if (step->state != STEP_PLACED && step->state != STEP_OBSERVED)
        return "left alone";
    if (step_is_shell(step))
        return "a shell is not sized, the steps it starts are";
    return NULL;
}

void size_step(const struct packer *packer, struct step *step)
{
    size_t nodes = packer->topo->nodes + 1;
    struct sizing s = {.packer = packer, .step = step};
    const char *reason = reason_for_all(step);

    size_all(packer, step, reason ? reason : "");
    if (reason)
        return;
    s.held = calloc(3 * nodes, sizeof(*s.held));
    if (!s.held) {
        size_all(packer, step, "out of memory");
        return;
    }
    s.chosen = s.held + nodes;
    s.needed = s.held + 2 * nodes;
    count_on_nodes(&s, false, s.held);
    solve(&s);
    free(s.held);
}
