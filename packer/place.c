/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place - see place.h */
#include "place.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forecast.h"
#include "node_power.h"
#include "place_keep.h"
#include "place_policy.h"

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
    struct cpus *cpus;
};

static void add_stranger(uint32_t job, const struct cpus *cpus, void *arg)
{
    const struct strangers *strangers = arg;
    const struct step *step;

    TAILQ_FOREACH(step, &strangers->packer->steps.live, link)
    if (step->request.id.job == job && units_movable(step, strangers->guest))
        return;
    cpus_or(strangers->cpus, cpus);
}

/* CPUs of jobs that no step of berth's is of, as far as the way knows them. */
static void find_strangers(const struct packer *packer, const struct step *guest, struct cpus *cpus)
{
    struct strangers strangers = {packer, guest, cpus};
    const struct step *any = TAILQ_FIRST(&packer->steps.live);
    struct enforce enforce = packer->enforce;

    if (enforce.way->jobs && any) /* all of them are on this node */
        enforce.way->jobs(&enforce, any->request.node, add_stranger, &strangers);
}

void place_others(const struct packer *packer, const struct step *guest, struct cpus *cpus)
{
    const struct step *step;

    cpus_zero(cpus);
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (!units_movable(step, guest))
        cpus_or(cpus, &step->body.step_home);
    find_strangers(packer, guest, cpus);
}

/* Nobody else of the pool is put on the cores of a stranger, even where Slurm lets jobs share them.
 */
void place_sync(const struct packer *packer, const struct step *guest, struct pool *pool)
{
    bool *wanted = calloc(pool->cores ? pool->cores : 1, sizeof(*wanted));
    const struct step *step;
    struct cpus others;

    if (!wanted)
        return;
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (units_movable(step, guest))
        mark(packer->topo, &step->body.job_home, wanted, true);
    place_others(packer, guest, &others);
    cpus_or(&others, &packer->offline);
    mark(packer->topo, &others, wanted, false);
    for (size_t core = 0; core < pool->cores; core++)
        if (wanted[core])
            pool_join(pool, core);
        else
            pool_leave(pool, core);
    free(wanted);
}

/* ---- why ---- */

/* What the user asked for and this version does otherwise. */
static const char *note_of(const struct step *step)
{
    enum wire_policy asked = step->place.policy_asked;

    return asked == WIRE_POLICY_DI || asked == WIRE_POLICY_DIO_POWER
               ? ""
               : "; the policy asked for is not in this version";
}

/* How DIO-POWER decided. */
static const char *choice_of(const struct step_edp *edp)
{
    if (edp->choice == PLACE_CLUSTERED)
        return edp->source ? "clustered on few caches, which costs less energy times time"
                           : "clustered on as few caches as keep devils apart";
    return edp->source ? "spread, for to cluster costs more energy times time"
                       : "spread, for a step is to be isolated";
}

void place_reason(const struct step *step, char *text, size_t size)
{
    const struct step_place *place = &step->place;

    if (place->adopted)
        snprintf(text, size, "adopted after a restart of berthd, where it was");
    else if (place->of == 0)
        snprintf(text, size, "not placed");
    else if (!place->rank)
        snprintf(text, size, "goes where the cores of its job go%s", note_of(step));
    else if (place->edp.choice != PLACE_NO_CHOICE)
        snprintf(text, size, "DIO-POWER: number %zu of %zu by miss rate, %s%s", place->rank,
                 place->of, choice_of(&place->edp), note_of(step));
    else
        snprintf(text, size,
                 "DI: number %zu of %zu by miss rate, spread over packages, caches, cores%s",
                 place->rank, place->of, note_of(step));
}

/* Say to all which rank they had (0: none): a new step changes everybody's. */
static void tell(struct packer *packer, struct step *guest, const struct units *units,
                 const struct step_edp *edp)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        long core = topo_core_of_cpu(packer->topo, cpus_next(&step->body.task[0].use, 0));
        bool ranked = core >= 0 && units->of_core[core] != UNITS_NONE && !step_is_shell(step);
        bool packed = ranked && units->packed[units->of_core[core]];

        if (guest ? step != guest : !step_movable(step))
            continue;
        step->place.rank = ranked ? units->rank[units->of_core[core]] : 0;
        step->place.of = units->n;
        step->place.edp = packed ? *edp : (struct step_edp){.cluster = NAN, .spread = NAN};
        step->place.adopted = false;
    }
}

/* ---- the decision ---- */

/* Put everybody where one policy wants him: DIO-POWER with `cluster`, else DI. On failure, and
 * where a memory policy is in the way, `pool` is as before. */
static int stand_by(const struct packer *packer, const struct step *guest, struct units *units,
                    bool cluster, struct pool *pool, struct berth_error *err)
{
    if ((cluster ? policy_cluster(packer, guest, pool, units, err)
                 : policy_spread(packer, pool, units, err)) < 0)
        return -1;
    keep_equals(packer, pool, units);
    if (!keep_bound(packer, units))
        return 0;
    keep_cores(packer, pool, units);
    if (pool_assign(pool, units->total, units->from, units->to) < 0)
        return berth_error_set(err, "place: %s", strerror(errno));
    return 0;
}

/* Which of the two has the smaller energy-delay product; where power is not known, the paper's
 * answer: to cluster as far as devils allow. */
static void compare(const struct packer *packer, const struct step *guest,
                    const struct pool *cluster, const struct pool *spread, struct step_edp *edp)
{
    const char *source = node_power_source(packer);
    struct forecast *forecast = source ? forecast_new(packer) : NULL;

    edp->choice = PLACE_CLUSTERED;
    if (!forecast)
        return;
    edp->cluster = forecast_edp(forecast, cluster, guest);
    edp->spread = forecast_edp(forecast, spread, guest);
    forecast_free(forecast);
    if (isnan(edp->cluster) || isnan(edp->spread)) {
        edp->cluster = edp->spread = NAN;
        return;
    }
    edp->source = source;
    if (edp->cluster > edp->spread)
        edp->choice = PLACE_SPREAD;
}

/* DIO-POWER: both ways, then the better one. */
static int choose(const struct packer *packer, const struct step *guest, struct units *units,
                  struct pool *pool, struct step_edp *edp, struct berth_error *err)
{
    struct pool cluster, spread;
    int rc;

    if (pool_copy(&cluster, pool) < 0)
        return berth_error_set(err, "place: out of memory");
    if (pool_copy(&spread, pool) < 0) {
        pool_free(&cluster);
        return berth_error_set(err, "place: out of memory");
    }
    rc = stand_by(packer, guest, units, false, &spread, err);
    if (rc == 0)
        rc = stand_by(packer, guest, units, true, &cluster, err);
    if (rc == 0)
        compare(packer, guest, &cluster, &spread, edp);
    if (rc == 0)
        memcpy(pool->stand, edp->choice == PLACE_SPREAD ? spread.stand : cluster.stand,
               pool->cores * sizeof(*pool->stand));
    pool_free(&cluster);
    pool_free(&spread);
    return rc;
}

/* Who is to be isolated takes precedence over saving energy. */
static int decide(const struct packer *packer, const struct step *guest, struct units *units,
                  struct pool *pool, struct step_edp *edp, struct berth_error *err)
{
    if (units->total == 0)
        return 0;
    if (units_pack(units) && !units_isolate(units))
        return choose(packer, guest, units, pool, edp, err);
    edp->choice = PLACE_SPREAD;
    return stand_by(packer, guest, units, false, pool, err);
}

int place_decide(struct packer *packer, struct step *guest, struct pool *pool,
                 struct berth_error *err)
{
    struct step_edp edp = {.cluster = NAN, .spread = NAN};
    struct units units;
    int rc;

    if (units_collect(packer, guest, pool, &units) < 0)
        return berth_error_set(err, "place: out of memory");
    rc = decide(packer, guest, &units, pool, &edp, err);
    if (rc == 0) {
        units_rank(&units);
        tell(packer, guest, &units, &edp);
    }
    units_free(&units);
    return rc;
}
