/* SPDX-License-Identifier: GPL-2.0-or-later */
/* propose - see propose.h */
#include "packer/enact/propose.h"

#include <stdlib.h>

#include "packer/enact/exchange.h"
#include "packer/observe/window.h"
#include "packer/steps/stand.h"

/* Which cores change hands: from[i] with to[i]. */
struct change {
    size_t n, room;
    size_t *from, *to; /* [room] */
};

/* Where the step, or the task of it, stands. */
static int stands(const struct step *step, size_t task, struct cpus *its, struct berth_error *err)
{
    if (task == SIZE_MAX)
        enforce_union(&step->body, ENFORCE_PLACE, its);
    else if (task < step->body.ntasks)
        *its = step->body.task[task].cpus;
    else
        return berth_error_set(err, "task %zu: it has %zu", task, step->body.ntasks);
    return 0;
}

static bool has(const struct packer *packer, const struct cpus *cpus, size_t core)
{
    return cpus_intersect(&packer->world.topo->core[core].cpus, cpus);
}

static size_t count(const struct packer *packer, const struct cpus *cpus)
{
    size_t n = 0;

    for (size_t core = 0; core < packer->world.topo->cores; core++)
        n += has(packer, cpus, core);
    return n;
}

static size_t cpu_of(const struct packer *packer, size_t core)
{
    return cpus_next(&packer->world.topo->core[core].cpus, 0);
}

/* ---- what may be ---- */

/* May it be moved at all? */
static int check_step(const struct packer *packer, const struct step *step, struct berth_error *err)
{
    if (!packer->world.enforce->way->touches)
        return berth_error_set(err, "nothing is changed on this node (enforcement=dryrun)");
    if (step_is_shell(step))
        return berth_error_set(err, "batch scripts and shells only wait");
    if (step->state == STEP_OBSERVED)
        return berth_error_set(err, "it is only observed");
    if (!step_movable(step))
        return berth_error_set(err, "berth leaves it alone: %.200s", step->enacted.reason);
    if (!step_may_move(step))
        return berth_error_set(err, "it stays where it began: %.200s", step->enacted.reason);
    return 0;
}

/* Are these cores of the pool, as many as it has? */
static int check_cores(const struct packer *packer, const struct cpus *its, const struct cpus *cpus,
                       struct berth_error *err)
{
    size_t has_now = count(packer, its), wants = count(packer, cpus);

    if (!cpus_subset(cpus, &packer->world.topo->cpus))
        return berth_error_set(err, "the node has not all of these CPUs");
    if (wants != has_now)
        return berth_error_set(err, "it has %zu core%s, not %zu", has_now, has_now == 1 ? "" : "s",
                               wants);
    for (size_t core = 0; core < packer->world.topo->cores; core++) {
        if (!has(packer, cpus, core))
            continue;
        if (!pool_has(packer->pool, core))
            return berth_error_set(err, "CPU %zu is not in the pool", cpu_of(packer, core));
        if (has(packer, &packer->world.enforce->offline, core))
            return berth_error_set(err, "CPU %zu is off", cpu_of(packer, core));
    }
    return 0;
}

/* May who stands on core `from` stand on core `to`? */
static int check_move(const struct packer *packer, size_t from, size_t to,
                      const struct cpus *isolated, struct berth_error *err)
{
    const struct step *step;
    struct cpus its;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        const char *why;

        enforce_union(&step->body, ENFORCE_PLACE, &its);
        if (step_is_shell(step) || !has(packer, &its, from))
            continue;
        why = step_may_move(step) ? exchange_barred(packer, step, to, isolated) : "it stays there";
        if (why)
            return berth_error_set(err, "CPU %zu: step %u.%u may not go to CPU %zu: %s",
                                   cpu_of(packer, from), step->request.id.job,
                                   step->request.id.step, cpu_of(packer, to), why);
    }
    return 0;
}

static int check_change(const struct packer *packer, const struct change *change,
                        struct berth_error *err)
{
    struct cpus isolated;

    exchange_isolated(packer, &isolated);
    for (size_t i = 0; i < change->n; i++)
        if (check_move(packer, change->from[i], change->to[i], &isolated, err) < 0 ||
            check_move(packer, change->to[i], change->from[i], &isolated, err) < 0)
            return -1;
    return 0;
}

/* ---- the change ---- */

/* Cores that it leaves, each with one that it comes to, both upwards. */
static void fill(const struct packer *packer, const struct cpus *its, const struct cpus *cpus,
                 struct change *change)
{
    size_t to = 0;

    for (size_t core = 0; core < packer->world.topo->cores; core++) {
        if (has(packer, its, core) && !has(packer, cpus, core))
            change->from[change->n++] = core;
        if (has(packer, cpus, core) && !has(packer, its, core))
            change->to[to++] = core;
    }
}

/* Whose averages are of where it stood begins them anew. */
static void begin_anew(const struct packer *packer, const struct change *change)
{
    struct step *step;
    struct cpus its;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        enforce_union(&step->body, ENFORCE_PLACE, &its);
        for (size_t i = 0; i < change->n; i++)
            if (has(packer, &its, change->from[i]) || has(packer, &its, change->to[i])) {
                window_moved(step);
                break;
            }
    }
}

static int carry_out(const struct packer *packer, const struct step *step, size_t task,
                     const struct cpus *cpus, const struct change *change, struct berth_error *err)
{
    struct cpus its;

    if (exchange_cores(packer, change->n, change->from, change->to, err) < 0)
        return -1;
    begin_anew(packer, change);
    if (step_movable(step) && stands(step, task, &its, err) == 0 &&
        count(packer, &its) == count(packer, cpus)) {
        for (size_t i = 0; i < change->n; i++)
            if (!has(packer, &its, change->to[i]))
                return berth_error_set(err, "it does not stand on CPU %zu",
                                       cpu_of(packer, change->to[i]));
        return 0;
    }
    return berth_error_set(err, "it was put back: %.200s", step->enacted.reason);
}

int propose_cpus(const struct packer *packer, struct step *step, size_t task,
                 const struct cpus *cpus, struct berth_error *err)
{
    size_t cores = packer->world.topo->cores;
    struct change change = {.room = cores};
    struct cpus its;
    int rc = -1;

    if (check_step(packer, step, err) < 0 || stands(step, task, &its, err) < 0 ||
        check_cores(packer, &its, cpus, err) < 0)
        return -1;
    change.from = calloc(2 * cores, sizeof(*change.from));
    if (!change.from)
        return berth_no_memory(err);
    change.to = change.from + cores;
    fill(packer, &its, cpus, &change);
    if (change.n == 0)
        rc = 0; /* it stands there already */
    else if (check_change(packer, &change, err) == 0)
        rc = carry_out(packer, step, task, cpus, &change, err);
    free(change.from);
    return rc;
}
