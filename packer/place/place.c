/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place - see place.h */
#include "packer/place/place.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/bill/node_power.h"
#include "packer/place/forecast.h"
#include "packer/place/keep.h"
#include "packer/place/policy.h"

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
