/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place - see place.h */
#include "place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../models/isolate.h"
#include "place_keep.h"

/* ---- CPUs and cores ---- */

/* May the core be exchanged with others while a job holds `cpus`? All its threads must be the
 * job's, and as many as other cores have: cores are exchanged one for one. */
static bool core_whole(const struct topo *topo, size_t core, const struct cpus *cpus)
{
    return topo->core[core].threads == topo->core[0].threads &&
           cpus_subset(&topo->core[core].cpus, cpus);
}

const char *place_unfit(const struct packer *packer, const struct enforce_step *body)
{
    for (size_t i = 0; i < body->ntasks; i++) {
        if (cpus_empty(&body->task[i].home))
            return "a task's CPUs are not known";
        cpus_foreach(cpu, &body->task[i].home)
        {
            long core = topo_core_of_cpu(packer->topo, cpu);

            if (core < 0)
                return "it runs on CPUs that the topology does not know";
            if (cpus_intersect(&packer->topo->core[core].cpus, &packer->offline))
                return "one of its cores is switched off";
            if (!core_whole(packer->topo, (size_t)core, &body->job_home))
                return "its job shares a core with another job, or has cores of another kind";
        }
    }
    return NULL;
}

/* The CPU of core `to` that has the same place among its threads as `cpu` has in core `from`. */
static size_t cpu_image(const struct topo *topo, size_t from, size_t to, size_t cpu)
{
    size_t image = cpus_next(&topo->core[to].cpus, 0);

    for (size_t at = cpus_next(&topo->core[from].cpus, 0); at < cpu && at < CPUS_MAX;
         at = cpus_next(&topo->core[from].cpus, at + 1))
        image = cpus_next(&topo->core[to].cpus, image + 1);
    return image;
}

void place_image(const struct packer *packer, const struct pool *pool, const struct cpus *home,
                 struct cpus *cpus)
{
    cpus_zero(cpus);
    cpus_foreach(cpu, home)
    {
        long core = topo_core_of_cpu(packer->topo, cpu);

        if (core >= 0 && pool_has(pool, (size_t)core))
            cpus_add(cpus, cpu_image(packer->topo, (size_t)core, pool->stand[core], cpu));
        else
            cpus_add(cpus, cpu);
    }
}

/* ---- members of the pool ---- */

/* wanted[core] = value for the cores that `cpus` touch (value true: only for whole ones). */
static void mark(const struct topo *topo, const struct cpus *cpus, bool *wanted, bool value)
{
    cpus_foreach(cpu, cpus)
    {
        long core = topo_core_of_cpu(topo, cpu);

        if (core >= 0 && (!value || core_whole(topo, (size_t)core, cpus)))
            wanted[core] = value;
    }
}

struct strangers {
    const struct packer *packer;
    const struct step *guest;
    bool *wanted;
};

/* Nobody else of the pool is put on the cores of a job that no step of berth's is of, even where
 * Slurm lets jobs share them. */
static void leave_stranger(uint32_t job, const struct cpus *cpus, void *arg)
{
    const struct strangers *strangers = arg;
    const struct step *step;

    TAILQ_FOREACH(step, &strangers->packer->steps.live, link)
    if (step->request.id.job == job && units_movable(step, strangers->guest))
        return;
    mark(strangers->packer->topo, cpus, strangers->wanted, false);
}

static void visit_jobs(const struct packer *packer, struct strangers *strangers)
{
    const struct step *any = TAILQ_FIRST(&packer->steps.live);
    struct enforce enforce = packer->enforce;

    if (enforce.way->jobs && any) /* all of them are on this node */
        enforce.way->jobs(&enforce, any->request.node, leave_stranger, strangers);
}

void place_sync(const struct packer *packer, const struct step *guest, struct pool *pool)
{
    struct strangers strangers = {packer, guest, NULL};
    bool *wanted = calloc(pool->cores ? pool->cores : 1, sizeof(*wanted));
    const struct step *step;

    if (!wanted)
        return;
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (units_movable(step, guest))
        mark(packer->topo, &step->body.job_home, wanted, true);
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (!units_movable(step, guest))
        mark(packer->topo, &step->body.step_home, wanted, false);
    mark(packer->topo, &packer->offline, wanted, false);
    strangers.wanted = wanted;
    visit_jobs(packer, &strangers);
    for (size_t core = 0; core < pool->cores; core++)
        if (wanted[core])
            pool_join(pool, core);
        else
            pool_leave(pool, core);
    free(wanted);
}

/* ---- the decision ---- */

/* DI's prioritised mode: all units of a step that is to be isolated are one group. */
static int run_isolate(const struct packer *packer, const struct di_machine *machine,
                       struct units *units)
{
    struct isolate_unit *unit = calloc(units->n, sizeof(*unit));
    size_t level;
    long count = -1;

    for (size_t u = 0; unit && u < units->n; u++)
        unit[u] = (struct isolate_unit){.unit = units->unit[u],
                                        .group = (size_t)(uintptr_t)units->asker[u],
                                        .prioritised = units->asker[u],
                                        .sensitive = units->asker[u]};
    if (unit)
        count = isolate_place_best(machine, packer->conf.devil_miss_pmi, units->n, unit, units->to,
                                   units->isolated, &level);
    free(unit);
    return count < 0 ? -1 : 0;
}

static bool anybody_asks(const struct units *units)
{
    for (size_t u = 0; u < units->n; u++)
        if (units->asker[u])
            return true;
    return false;
}
/* Run DI on the pool's part of the machine: fills units->to with topology cores. */
static int run_di(const struct packer *packer, const struct pool *pool, struct units *units,
                  struct berth_error *err)
{
    struct cpus within = {0};
    struct topo_tree tree;
    int rc;

    for (size_t core = 0; core < pool->cores; core++)
        if (pool_has(pool, core))
            cpus_or(&within, &packer->topo->core[core].cpus);
    if (topo_tree_build(&tree, packer->topo, &within, err) < 0)
        return -1;
    rc = anybody_asks(units) ? run_isolate(packer, &tree.machine, units)
                             : di_place(&tree.machine, units->n, units->unit, units->to);
    if (rc < 0)
        berth_error_set(err, "DI: %s", strerror(errno));
    for (size_t i = 0; rc == 0 && i < units->total; i++)
        units->to[i] = tree.core_index[units->to[i]];
    topo_tree_free(&tree);
    return rc;
}

/* What the user asked for and this version does otherwise. */
static const char *note_of(const struct step *step)
{
    const struct wire_options *o = &step->request.options;

    if (step->place.policy_asked != WIRE_POLICY_DI)
        return "; the policy asked for is not in this version";
    return o->edp ? "; edp is recorded, not acted on in this version" : "";
}

void place_reason(const struct step *step, char *text, size_t size)
{
    if (step->place.adopted)
        snprintf(text, size, "adopted after a restart of berthd, where it was");
    else if (step->place.of == 0)
        snprintf(text, size, "not placed");
    else if (step->place.rank)
        snprintf(text, size,
                 "DI: number %zu of %zu by miss rate, spread over packages, caches, cores%s",
                 step->place.rank, step->place.of, note_of(step));
    else
        snprintf(text, size, "goes where the cores of its job go%s", note_of(step));
}

/* Say to all which rank they had (0: none): a new step changes everybody's. */
static void tell_ranks(struct packer *packer, struct step *guest, const struct units *units)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        long core = topo_core_of_cpu(packer->topo, cpus_next(&step->body.task[0].use, 0));
        bool ranked = core >= 0 && units->of_core[core] != UNITS_NONE && !step_is_shell(step);

        if (guest ? step != guest : !step_movable(step))
            continue;
        step->place.rank = ranked ? units->rank[units->of_core[core]] : 0;
        step->place.of = units->n;
        step->place.adopted = false;
    }
}

int place_decide(struct packer *packer, struct step *guest, struct pool *pool,
                 struct berth_error *err)
{
    struct units units;
    int rc;

    if (units_collect(packer, guest, pool, &units) < 0)
        return berth_error_set(err, "place: out of memory");
    rc = units.total ? run_di(packer, pool, &units, err) : 0;
    if (rc == 0 && units.total)
        keep_equals(packer, pool, &units);
    if (rc == 0 && units.total && keep_bound(packer, &units)) { /* else everybody stays */
        keep_cores(packer, pool, &units);
        rc = pool_assign(pool, units.total, units.from, units.to);
        if (rc < 0)
            berth_error_set(err, "place: %s", strerror(errno));
    }
    if (rc == 0) {
        units_rank(&units);
        tell_ranks(packer, guest, &units);
    }
    units_free(&units);
    return rc;
}
