/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rearrange - see rearrange.h */
#include "packer/enact/rearrange.h"

#include "packer/enact/enact.h"
#include "packer/place/place.h"
#include "packer/size/share.h"
#include "packer/steps/stand.h"

/* Returns how many steps failed, or -1 and err with nothing done. */
static long try_once(struct packer *packer, const struct step *fresh, unsigned flags,
                     struct berth_error *err)
{
    bool decides = fresh && step_movable(fresh);
    struct pool next;
    struct scene scene = {packer, &next, false};
    int rc = 0;

    if (pool_copy(&next, &packer->pool) < 0)
        return berth_no_memory(err);
    if (stand_sync(&scene) < 0)
        rc = berth_no_memory(err);
    if (rc == 0)
        share_cores(packer, &next);
    if (rc == 0 && decides)
        rc = place_decide(&scene, err);
    if (rc == 0)
        return enact_change(packer, &next, fresh, flags | (decides ? 0 : ENACT_MUST), err);
    pool_free(&next);
    return -1;
}

/* The steps that have failed leave the pool, and others with them, until nobody fails. What cannot
 * be done now is done by the next change. */
static int without_failed(struct packer *packer, long failed)
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

int rearrange(struct packer *packer, const struct step *fresh, unsigned flags,
              struct berth_error *err)
{
    return without_failed(packer, try_once(packer, fresh, flags, err));
}

int rearrange_as(struct packer *packer, struct pool *next, unsigned flags, struct berth_error *err)
{
    return without_failed(packer, enact_change(packer, next, NULL, flags, err));
}

void rearrange_again(struct packer *packer, uint32_t job)
{
    without_failed(packer, (long)enact_again(packer, job));
}
