/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rearrange - see rearrange.h */
#include "packer/enact/rearrange.h"

#include <math.h>
#include <string.h>

#include "packer/enact/enact.h"
#include "packer/enact/weigh.h"
#include "packer/place/place.h"
#include "packer/size/share.h"
#include "packer/slurm/steps/pool_marker.h"
#include "packer/steps/stand.h"

/* Must what is predicted be known at once? While it is still to be decided what steps that have
 * come or gone mean for others, it waits for that (predict_stage), but for a bound that the step's
 * user has set: his launch tells whether it is met. */
static bool must_predict(const struct packer *packer, const struct step *fresh, unsigned flags)
{
    if (flags & REARRANGE_UNTOLD)
        return false;
    return !packer->steps->changed || (fresh && !isnan(fresh->place.max_slowdown));
}

/* Makes the permutation true; what is predicted of the steps is of where they stand then. */
static long changed(const struct packer *packer, struct pool *next, const struct step *fresh,
                    unsigned flags, struct berth_error *err)
{
    long failed = enact_change(packer, next, fresh, flags, err);

    if (packer->world.conf.idle != CONF_IDLE_OFF) {
        place_note_idle(packer);
        pool_marker_guests(packer);
    }
    if (failed >= 0 && must_predict(packer, fresh, flags))
        place_predict(packer);
    return failed;
}

/* Takes over the standing of another permutation of the same pool. */
static void stand_as(struct pool *pool, const struct pool *as)
{
    memcpy(pool->stand, as->stand, pool->cores * sizeof(*pool->stand));
}

/* As online: others move for it only if that pays. Where it does not, it alone may start elsewhere,
 * if that is better. */
static int launch_by_weight(const struct scene *next, const struct step *fresh,
                            struct berth_error *err)
{
    struct place_terms terms = weigh_terms(next->packer, fresh);
    struct weighed weighed;
    struct pool as_synced;
    struct scene now = {next->packer, &as_synced, next->as_if};
    int rc;

    if (pool_copy(&as_synced, next->pool) < 0)
        return berth_no_memory(err);
    terms.others_stay = fresh->enacted.kept;
    rc = weigh_decide(&now, next, &terms, &weighed, err);
    if (rc == 0 && !weigh_pays(&weighed, terms.horizon_s) && weighed.moves > 0) {
        stand_as(next->pool, &as_synced);
        terms.others_stay = true;
        rc = weigh_decide(&now, next, &terms, &weighed, err);
    }
    if (rc == 0 && !weigh_pays(&weighed, terms.horizon_s))
        stand_as(next->pool, &as_synced);
    pool_free(&as_synced);
    return rc;
}

int rearrange_launch(const struct scene *next, struct step *fresh, struct berth_error *err)
{
    if (place_looks(next))
        return place_look(next, fresh, weigh_terms(next->packer, fresh).horizon_s, err);
    return launch_by_weight(next, fresh, err);
}

/* Returns how many steps failed, or -1 and err with nothing done. */
static long try_once(const struct packer *packer, struct step *fresh, unsigned flags,
                     struct berth_error *err)
{
    bool decides = fresh && step_movable(fresh);
    struct pool next;
    struct scene scene = {packer, &next, false};
    int rc = 0;

    if (pool_copy(&next, packer->pool) < 0)
        return berth_no_memory(err);
    pool_marker_idle(packer, stand_idle(&scene));
    if (stand_sync(&scene) < 0)
        rc = berth_no_memory(err);
    if (rc == 0 && (flags & REARRANGE_DEAL))
        share_cores(packer, &next);
    else if (rc == 0 && fresh && step_may_move(fresh))
        share_begin(fresh);
    if (rc == 0 && decides)
        rc = rearrange_launch(&scene, fresh, err);
    if (rc == 0)
        return changed(packer, &next, fresh, flags | (decides ? 0 : ENACT_MUST), err);
    pool_free(&next);
    return -1;
}

/* The steps that have failed leave the pool, and others with them, until nobody fails. What cannot
 * be done now is done by the next change. */
static int without_failed(const struct packer *packer, long failed)
{
    struct berth_error err;

    if (failed < 0)
        return -1;
    while (failed > 0)
        failed = try_once(packer, NULL, 0, &err);
    if (failed < 0)
        log_error("cores not vacated: %s", err.text);
    return 0;
}

int rearrange(const struct packer *packer, struct step *fresh, unsigned flags,
              struct berth_error *err)
{
    return without_failed(packer, try_once(packer, fresh, flags, err));
}

int rearrange_as(const struct packer *packer, struct pool *next, unsigned flags,
                 struct berth_error *err)
{
    return without_failed(packer, changed(packer, next, NULL, flags, err));
}

void rearrange_room(const struct packer *packer)
{
    struct berth_error err;

    if (rearrange(packer, NULL, 0, &err) < 0)
        log_error("cores not vacated: %s", err.text);
}

void rearrange_deal(const struct packer *packer)
{
    struct berth_error err;

    if (rearrange(packer, NULL, REARRANGE_DEAL | REARRANGE_UNTOLD, &err) < 0)
        log_error("cores not dealt: %s", err.text);
}

void rearrange_again(const struct packer *packer, uint32_t job)
{
    without_failed(packer, (long)enact_again(packer, job));
}

bool rearrange_turn(const struct packer *packer)
{
    size_t failed;
    bool more = enact_turn(packer, &failed);

    without_failed(packer, (long)failed);
    return more;
}
