/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place - see place.h */
#include "place.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../models/isolate.h"
#include "classify.h"
#include "isolation.h"
#include "memory_follow.h"

#define NO_UNIT ((size_t)-1)

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

static bool counts_as_movable(const struct step *step, const struct step *guest)
{
    return step_movable(step) || (guest && (step == guest || step->state == STEP_OBSERVED));
}

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
    if (step->request.id.job == job && counts_as_movable(step, strangers->guest))
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
    if (counts_as_movable(step, guest))
        mark(packer->topo, &step->body.job_home, wanted, true);
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (!counts_as_movable(step, guest))
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

/* ---- units ---- */

/* The units of a pool: which unit each core belongs to, and what DI has to know of each. */
struct units {
    size_t *of_core;      /* [cores] unit, or NO_UNIT */
    struct di_unit *unit; /* [n] */
    struct step **first;  /* [n] its most intensive step */
    struct step **asker;  /* [n] the one of its steps that is to be isolated; NULL: none */
    bool *isolated;       /* [n] it is, where it goes */
    size_t n, cores;
    size_t *rank;      /* [n] 1: the most intensive */
    size_t *of_target; /* [cores] who is meant to stand there */
    size_t *from, *to; /* [cores of all units] in the order of units, then of cores */
};

static void units_free(struct units *units)
{
    free(units->of_core);
    free(units->unit);
    free(units->first);
    free(units->asker);
    free(units->isolated);
    free(units->rank);
    free(units->of_target);
    free(units->from);
    free(units->to);
}

static int units_init(struct units *units, size_t cores)
{
    size_t n = cores ? cores : 1; /* no more units than cores */

    *units = (struct units){.cores = cores};
    units->of_core = malloc(n * sizeof(*units->of_core));
    units->unit = calloc(n, sizeof(*units->unit));
    units->first = calloc(n, sizeof(*units->first));
    units->asker = calloc(n, sizeof(*units->asker));
    units->isolated = calloc(n, sizeof(*units->isolated));
    units->rank = malloc(n * sizeof(*units->rank));
    units->of_target = malloc(n * sizeof(*units->of_target));
    units->from = malloc(n * sizeof(*units->from));
    units->to = malloc(n * sizeof(*units->to));
    if (!units->of_core || !units->unit || !units->first || !units->asker || !units->isolated ||
        !units->rank || !units->of_target || !units->from || !units->to) {
        units_free(units);
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < cores; i++)
        units->of_core[i] = NO_UNIT;
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
    if (!units->asker[a])
        units->asker[a] = units->asker[b];
    units->first[b] = NULL;
}

/* A unit of the step: new, or the one that already holds any of the CPUs (several are merged into
 * the eldest). */
static size_t unit_for(const struct packer *packer, struct units *units, struct step *step,
                       const struct cpus *home)
{
    size_t mine = NO_UNIT;

    cpus_foreach(cpu, home)
    {
        size_t other = units->of_core[topo_core_of_cpu(packer->topo, cpu)];

        if (other == NO_UNIT || other == mine)
            continue;
        if (mine != NO_UNIT)
            units_merge(packer, units, other < mine ? other : mine, other < mine ? mine : other);
        mine = mine == NO_UNIT || other < mine ? other : mine;
    }
    if (mine == NO_UNIT)
        mine = units->n++;
    if (!units->first[mine] ||
        classify_rate(packer, step) > classify_rate(packer, units->first[mine]))
        units->first[mine] = step;
    if (!units->asker[mine] && isolation_wanted(step))
        units->asker[mine] = step;
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

    if (!all_in_pool(packer->topo, pool, home))
        return;
    unit = unit_for(packer, units, step, home);
    cpus_foreach(cpu, home) units->of_core[topo_core_of_cpu(packer->topo, cpu)] = unit;
}

/* What a task uses is one unit; where it was sized, one on each NUMA node, for so many cores of
 * each node is what it was given. */
static void add_tasks(const struct packer *packer, const struct pool *pool, struct units *units,
                      struct step *step)
{
    for (size_t i = 0; i < step->body.ntasks; i++) {
        const struct enforce_task *task = &step->body.task[i];

        if (cpus_equal(&task->use, &task->home))
            add_unit(packer, pool, units, step, &task->use);
        for (size_t n = 0; !cpus_equal(&task->use, &task->home) && n < packer->topo->nodes; n++) {
            struct cpus part = task->use;

            cpus_and(&part, &packer->topo->node[n].cpus);
            add_unit(packer, pool, units, step, &part);
        }
    }
}

/* Close the gaps that merging left, and list the cores unit by unit (a counting sort; `to` and
 * `rank` are not in use yet and hold where a unit's cores begin and its new number). */
static void units_finish(const struct packer *packer, struct units *units)
{
    size_t *begin = units->to, *number = units->rank, n = 0, used = 0;

    for (size_t core = 0; core < units->cores; core++)
        if (units->of_core[core] != NO_UNIT)
            units->unit[units->of_core[core]].cores++;
    for (size_t unit = 0; unit < units->n; unit++) {
        if (!units->first[unit])
            continue;
        begin[unit] = used;
        number[unit] = n;
        used += units->unit[unit].cores;
        units->first[n] = units->first[unit];
        units->asker[n] = units->asker[unit];
        units->unit[n] = (struct di_unit){.miss_pmi = classify_rate(packer, units->first[n]),
                                          .cores = units->unit[unit].cores};
        n++;
    }
    for (size_t core = 0; core < units->cores; core++) {
        size_t unit = units->of_core[core];

        if (unit == NO_UNIT)
            continue;
        units->from[begin[unit]++] = core;
        units->of_core[core] = number[unit];
    }
    units->n = n;
}

static int units_collect(const struct packer *packer, const struct step *guest,
                         const struct pool *pool, struct units *units)
{
    struct step *step;

    if (units_init(units, pool->cores) < 0)
        return -1;
    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        bool idle_shell =
            step_is_shell(step) && registry_job_lives(&packer->steps, step->request.id.job, true);

        if (counts_as_movable(step, guest) && !idle_shell)
            add_tasks(packer, pool, units, step);
    }
    units_finish(packer, units);
    return 0;
}

/* ---- the decision ---- */

/* Cores of one cache are equal: who stands in the right cache already keeps his core there, and who
 * was meant to get that core gets the one he was meant for. */
static void keep_within_cache(const struct packer *packer, const struct pool *pool,
                              struct units *units, size_t total)
{
    const struct topo_core *core = packer->topo->core;
    size_t *of_target = units->of_target;

    for (size_t i = 0; i < pool->cores; i++)
        of_target[i] = total;
    for (size_t i = 0; i < total; i++)
        of_target[units->to[i]] = i;
    for (size_t i = 0; i < total; i++) {
        size_t now = pool->stand[units->from[i]], meant = units->to[i], other = of_target[now];

        if (meant == now || core[meant].llc != core[now].llc)
            continue;
        if (other < total)
            units->to[other] = meant;
        of_target[meant] = other;
        of_target[now] = i;
        units->to[i] = now;
    }
}

/* A unit's cores are interchangeable: match its targets with where its cores stand now, cache by
 * cache. */
static void match_own(const struct packer *packer, const struct pool *pool, struct units *units,
                      size_t start, size_t count)
{
    const struct topo_core *core = packer->topo->core;

    for (size_t i = start; i < start + count; i++) {
        size_t llc = core[pool->stand[units->from[i]]].llc;

        for (size_t j = i; j < start + count && core[units->to[i]].llc != llc; j++)
            if (core[units->to[j]].llc == llc) {
                size_t swap = units->to[i];

                units->to[i] = units->to[j];
                units->to[j] = swap;
            }
    }
}

/* Are the unit's cores, where they stand now, in the same caches as the targets? */
static bool stands_there(const struct packer *packer, const struct pool *pool, const size_t *from,
                         const size_t *target, size_t count)
{
    const struct topo_core *core = packer->topo->core;

    for (size_t i = 0; i < count; i++) {
        size_t llc = core[target[i]].llc, there = 0, here = 0;

        for (size_t j = 0; j < count; j++) {
            there += core[target[j]].llc == llc;
            here += core[pool->stand[from[j]]].llc == llc;
        }
        if (here != there)
            return false;
    }
    return true;
}

static void swap_targets(size_t *a, size_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t target = a[i];

        a[i] = b[i];
        b[i] = target;
    }
}

/* Units of equal rate and size are equal, but for isolated ones: DI puts them anywhere among
 * themselves. Who stands where
 * one of them is meant to stand is the one: a job that has all cores to itself is not shuffled, and
 * nobody moves for his equal. */
static void keep_among_equals(const struct packer *packer, const struct pool *pool,
                              struct units *units)
{
    const size_t *from = units->from;
    size_t *to = units->to, u_at = 0;

    for (size_t u = 0; u < units->n; u_at += units->unit[u++].cores) {
        size_t count = units->unit[u].cores, v_at = 0;

        if (units->isolated[u] || stands_there(packer, pool, from + u_at, to + u_at, count))
            continue;
        for (size_t v = 0; v < units->n; v_at += units->unit[v++].cores)
            if (!units->isolated[v] && units->unit[v].cores == count &&
                units->unit[v].miss_pmi == units->unit[u].miss_pmi &&
                stands_there(packer, pool, from + u_at, to + v_at, count) &&
                !stands_there(packer, pool, from + v_at, to + v_at, count)) {
                swap_targets(to + u_at, to + v_at, count);
                break;
            }
    }
}

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

/* Does the memory policy of the unit's step let it stand on these cores? */
static bool may_stand(const struct packer *packer, const struct step *step, const size_t *target,
                      size_t count)
{
    struct cpus cpus = {0}, nodes;

    for (size_t i = 0; i < count; i++)
        cpus_or(&cpus, &packer->topo->core[target[i]].cpus);
    topo_nodes_of(packer->topo, &cpus, &nodes);
    return memory_move_allowed(step, &nodes);
}

/* The unit of u's size that is nearest to it in rate, and with which it can exchange targets: where
 * its cores begin. NO_UNIT: there is none. */
static size_t partner(const struct packer *packer, const struct units *units, size_t u, size_t u_at)
{
    size_t count = units->unit[u].cores, best = NO_UNIT, v_at = 0;
    double best_off = INFINITY;

    for (size_t v = 0; v < units->n; v_at += units->unit[v++].cores) {
        double off = fabs(units->unit[v].miss_pmi - units->unit[u].miss_pmi);

        if (v == u || units->unit[v].cores != count || off >= best_off ||
            !may_stand(packer, units->first[u], units->to + v_at, count) ||
            !may_stand(packer, units->first[v], units->to + u_at, count))
            continue;
        best = v_at;
        best_off = off;
    }
    return best;
}

/* A step whose memory is bound to some nodes stays inside them: it exchanges its place with the
 * unit that is most like it. False where there is none. */
static bool keep_bound(const struct packer *packer, struct units *units)
{
    size_t u_at = 0;

    for (size_t u = 0; u < units->n; u_at += units->unit[u++].cores) {
        size_t count = units->unit[u].cores, v_at;

        if (may_stand(packer, units->first[u], units->to + u_at, count))
            continue;
        v_at = partner(packer, units, u, u_at);
        if (v_at == NO_UNIT)
            return false;
        swap_targets(units->to + u_at, units->to + v_at, count);
    }
    return true;
}

/* Run DI on the pool's part of the machine: fills units->to with topology cores. */
static int run_di(const struct packer *packer, const struct pool *pool, struct units *units,
                  size_t total, struct berth_error *err)
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
    for (size_t i = 0; rc == 0 && i < total; i++)
        units->to[i] = tree.core_index[units->to[i]];
    topo_tree_free(&tree);
    return rc;
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

/* Each unit's place in that order (`from` is not needed any more and holds it). */
static void rank_units(struct units *units)
{
    size_t *order = units->from;

    for (size_t u = 0; u < units->n; u++)
        order[u] = u;
    qsort_r(order, units->n, sizeof(*order), compare_units, units);
    for (size_t i = 0; i < units->n; i++)
        units->rank[order[i]] = i + 1;
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
        bool ranked = core >= 0 && units->of_core[core] != NO_UNIT && !step_is_shell(step);

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
    size_t total = 0, start = 0;
    struct units units;
    int rc;

    if (units_collect(packer, guest, pool, &units) < 0)
        return berth_error_set(err, "place: out of memory");
    for (size_t u = 0; u < units.n; u++)
        total += units.unit[u].cores;
    rc = total ? run_di(packer, pool, &units, total, err) : 0;
    if (rc == 0 && total)
        keep_among_equals(packer, pool, &units);
    if (rc == 0 && total && keep_bound(packer, &units)) { /* else everybody stays */
        for (size_t u = 0; u < units.n; start += units.unit[u++].cores)
            match_own(packer, pool, &units, start, units.unit[u].cores);
        keep_within_cache(packer, pool, &units, total);
        rc = pool_assign(pool, total, units.from, units.to);
        if (rc < 0)
            berth_error_set(err, "place: %s", strerror(errno));
    }
    if (rc == 0) {
        rank_units(&units);
        tell_ranks(packer, guest, &units);
    }
    units_free(&units);
    return rc;
}
