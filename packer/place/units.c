/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place_units - see place/units.h */
#include "packer/place/units.h"

#include <errno.h>
#include <stdlib.h>

#include "packer/observe/classify.h"
#include "packer/place/isolation.h"
#include "packer/place/threads.h"
#include "packer/steps/stand.h"

void units_free(struct units *units)
{
    free(units->of_core);
    free(units->unit);
    free(units->first);
    free(units->isolate_for);
    free(units->isolated);
    free(units->packed);
    free(units->near);
    free(units->kept);
    free(units->apart);
    free(units->at);
    free(units->from);
    free(units->to);
    free(units->order);
    free(units->rank);
    free(units->of_target);
}

static int units_init(struct units *units, size_t cores)
{
    size_t n = cores ? cores : 1; /* no more units than cores */

    *units = (struct units){.cores = cores};
    units->of_core = malloc(n * sizeof(*units->of_core));
    units->unit = calloc(n, sizeof(*units->unit));
    units->first = calloc(n, sizeof(*units->first));
    units->isolate_for = calloc(n, sizeof(*units->isolate_for));
    units->isolated = calloc(n, sizeof(*units->isolated));
    units->packed = calloc(n, sizeof(*units->packed));
    units->near = calloc(n, sizeof(*units->near));
    units->kept = calloc(n, sizeof(*units->kept));
    units->apart = calloc(n, sizeof(*units->apart));
    units->at = malloc(n * sizeof(*units->at));
    units->from = malloc(n * sizeof(*units->from));
    units->to = malloc(n * sizeof(*units->to));
    units->order = malloc(n * sizeof(*units->order));
    units->rank = malloc(n * sizeof(*units->rank));
    units->of_target = malloc(n * sizeof(*units->of_target));
    if (!units->of_core || !units->unit || !units->first || !units->isolate_for ||
        !units->isolated || !units->packed || !units->near || !units->kept || !units->apart ||
        !units->at || !units->from || !units->to || !units->order || !units->rank ||
        !units->of_target) {
        units_free(units);
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < cores; i++)
        units->of_core[i] = UNITS_NONE;
    return 0;
}

/* All cores of unit b become unit a's; b is empty then. */
static void units_merge(const struct packer *packer, struct units *units, size_t a, size_t b)
{
    for (size_t core = 0; core < units->cores; core++)
        if (units->of_core[core] == b)
            units->of_core[core] = a;
    if (classify_rate(packer, units->first[b]) > classify_rate(packer, units->first[a]))
        units->first[a] = units->first[b];
    if (!units->isolate_for[a])
        units->isolate_for[a] = units->isolate_for[b];
    units->packed[a] = units->packed[a] && units->packed[b];
    if (!units->near[a] || units->kept[b])
        units->near[a] = units->near[b];
    units->kept[a] = units->kept[a] || units->kept[b];
    units->first[b] = NULL;
}

/* A unit of the step: new, or the one that already holds any of the CPUs (several are merged into
 * the eldest). */
static size_t unit_for(const struct packer *packer, struct units *units, struct step *step,
                       const struct cpus *home)
{
    bool packs = step->place.policy_asked == WIRE_POLICY_DIO_POWER;
    size_t mine = UNITS_NONE;

    cpus_foreach(cpu, home)
    {
        size_t other = units->of_core[topo_core_of_cpu(packer->world.topo, cpu)];

        if (other == UNITS_NONE || other == mine)
            continue;
        if (mine != UNITS_NONE)
            units_merge(packer, units, other < mine ? other : mine, other < mine ? mine : other);
        mine = mine == UNITS_NONE || other < mine ? other : mine;
    }
    if (mine == UNITS_NONE)
        mine = units->n++;
    units->packed[mine] = packs && (units->packed[mine] || !units->first[mine]);
    if (!units->first[mine] ||
        classify_rate(packer, step) > classify_rate(packer, units->first[mine]))
        units->first[mine] = step;
    if (!units->near[mine] && step->near.holds)
        units->near[mine] = &step->near.cpus;
    if (!cpus_empty(&step->body.begun)) {
        units->near[mine] = &packer->world.topo->cpus;
        units->kept[mine] = true;
    }
    if (!units->isolate_for[mine] && isolation_wanted(step))
        units->isolate_for[mine] = step;
    return mine;
}

/* Are all cores of these CPUs in the pool? */
static bool all_in_pool(const struct topo *topo, const struct pool *pool, const struct cpus *home)
{
    cpus_foreach(cpu, home)
    {
        long core = topo_core_of_cpu(topo, cpu);

        if (core < 0 || !pool_has(pool, (size_t)core))
            return false;
    }
    return !cpus_empty(home);
}

static void add_unit(const struct packer *packer, const struct pool *pool, struct units *units,
                     struct step *step, const struct cpus *home)
{
    size_t unit;

    if (!all_in_pool(packer->world.topo, pool, home))
        return;
    unit = unit_for(packer, units, step, home);
    cpus_foreach(cpu, home) units->of_core[topo_core_of_cpu(packer->world.topo, cpu)] = unit;
}

/* What a task uses of the CPUs of a kind is one unit; where it was sized, one on each NUMA node,
 * for so many cores of each node is what it was given. */
static void add_tasks(const struct packer *packer, const struct pool *pool,
                      const struct cpus *of_kind, struct units *units, struct step *step)
{
    for (size_t i = 0; i < step->body.ntasks; i++) {
        const struct enforce_task *task = &step->body.task[i];
        bool sized = !cpus_equal(&task->use, &task->home);
        struct cpus use = task->use;

        cpus_and(&use, of_kind);
        if (!sized)
            add_unit(packer, pool, units, step, &use);
        for (size_t n = 0; sized && n < packer->world.topo->nodes; n++) {
            struct cpus part = use;

            cpus_and(&part, &packer->world.topo->node[n].cpus);
            add_unit(packer, pool, units, step, &part);
        }
    }
}

/* Closes the gaps that merging has left: units that have a step move up. */
static int close_gaps(const struct packer *packer, struct units *units)
{
    size_t *number = malloc((units->n + 1) * sizeof(*number)), n = 0;

    if (!number) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t unit = 0; unit < units->n; unit++) {
        if (!units->first[unit])
            continue;
        number[unit] = n;
        units->first[n] = units->first[unit];
        units->isolate_for[n] = units->isolate_for[unit];
        units->packed[n] = units->packed[unit];
        units->near[n] = units->near[unit];
        units->kept[n] = units->kept[unit];
        units->unit[n] = (struct di_unit){.miss_pmi = classify_rate(packer, units->first[n])};
        n++;
    }
    for (size_t core = 0; core < units->cores; core++)
        if (units->of_core[core] != UNITS_NONE)
            units->of_core[core] = number[units->of_core[core]];
    units->n = n;
    free(number);
    return 0;
}

/* Lists the cores unit by unit, and says whether they are threads of their own. */
static void list_cores(const struct packer *packer, struct units *units)
{
    for (size_t core = 0; core < units->cores; core++)
        if (units->of_core[core] != UNITS_NONE)
            units->unit[units->of_core[core]].cores++;
    for (size_t unit = 0; unit < units->n; unit++) {
        units->at[unit] = units->total;
        units->total += units->unit[unit].cores;
        units->unit[unit].cores = 0;
    }
    for (size_t core = 0; core < units->cores; core++) {
        size_t unit = units->of_core[core];

        if (unit != UNITS_NONE)
            units->from[units->at[unit] + units->unit[unit].cores++] = core;
    }
    for (size_t unit = 0; unit < units->n; unit++)
        units->apart[unit] = threads_apart(packer, units->first[unit], units->unit[unit].cores);
}

bool units_count(const struct scene *scene, const struct step *step)
{
    return stand_movable(scene, step) && !registry_only_waits(scene->packer->steps, step);
}

/* Does a task of the step use any of these CPUs? */
static bool uses(const struct step *step, const struct cpus *cpus)
{
    for (size_t i = 0; i < step->body.ntasks; i++)
        if (cpus_intersect(&step->body.task[i].use, cpus))
            return true;
    return false;
}

/* Uses another one of the steps that count a CPU of this one? */
static bool is_shared(const struct scene *scene, const struct step *step)
{
    const struct step *other;
    struct cpus mine = {0};

    for (size_t i = 0; i < step->body.ntasks; i++)
        cpus_or(&mine, &step->body.task[i].use);
    TAILQ_FOREACH(other, &scene->packer->steps->live, link)
    if (other != step && uses(other, &mine) && units_count(scene, other))
        return true;
    return false;
}

bool units_may_have(const struct units *units, const struct scene *scene, size_t core)
{
    return pool_has(scene->pool, core) && scene->packer->world.topo->core[core].kind == units->kind;
}

int units_collect(const struct scene *scene, struct step *only, size_t kind, struct units *units)
{
    const struct packer *packer = scene->packer;
    struct cpus of_kind;
    struct step *step;

    if (units_init(units, scene->pool->cores) < 0)
        return -1;
    units->alone = only != NULL;
    units->kind = kind;
    if (only && is_shared(scene, only))
        return 0;
    topo_cpus_of_kind(packer->world.topo, kind, &of_kind);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if ((!only || step == only) && units_count(scene, step))
            add_tasks(packer, scene->pool, &of_kind, units, step);
    }
    if (close_gaps(packer, units) < 0) {
        units_free(units);
        return -1;
    }
    list_cores(packer, units);
    return 0;
}

bool units_have(const struct units *units, const struct topo *topo, const struct step *step,
                size_t unit)
{
    for (size_t t = 0; t < step->body.ntasks; t++)
        cpus_foreach(cpu, &step->body.task[t].use)
        {
            long core = topo_core_of_cpu(topo, cpu);

            if (core >= 0 && units->of_core[core] == unit)
                return true;
        }
    return false;
}

bool units_isolate(const struct units *units)
{
    for (size_t u = 0; u < units->n; u++)
        if (units->isolate_for[u])
            return true;
    return false;
}

bool units_pack(const struct units *units)
{
    for (size_t u = 0; u < units->n; u++)
        if (units->packed[u])
            return true;
    return false;
}

/* DI's order: descending miss rates, equal ones as they came. */
static int compare_units(const void *a, const void *b, void *units)
{
    const struct di_unit *unit = ((const struct units *)units)->unit;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    if (unit[x].miss_pmi != unit[y].miss_pmi)
        return unit[x].miss_pmi > unit[y].miss_pmi ? -1 : 1;
    return x < y ? -1 : 1;
}

void units_rank(struct units *units)
{
    for (size_t u = 0; u < units->n; u++)
        units->order[u] = u;
    qsort_r(units->order, units->n, sizeof(*units->order), compare_units, units);
    for (size_t i = 0; i < units->n; i++)
        units->rank[units->order[i]] = i + 1;
}
