/* SPDX-License-Identifier: GPL-2.0-or-later */
/* as_if - see as_if.h */
#include "packer/enact/as_if.h"

#include "packer/enact/rearrange.h"
#include "packer/place/place.h"

static bool any_in(const struct packer *packer, enum step_state state)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->state == state)
        return true;
    return false;
}

void as_if_close(const struct packer *packer)
{
    pool_free(packer->state->as_if);
    *packer->state->as_if = (struct pool){0};
}

bool as_if_sync(const struct packer *packer)
{
    struct scene scene = {packer, packer->state->as_if, true};

    if (!any_in(packer, STEP_OBSERVED)) {
        as_if_close(packer);
        return false;
    }
    if (!packer->state->as_if->stand || any_in(packer, STEP_PLACED)) {
        as_if_close(packer);
        if (pool_copy(packer->state->as_if, packer->pool) < 0) {
            *packer->state->as_if = (struct pool){0};
            return false;
        }
    }
    return stand_sync(&scene) == 0;
}

static void describe(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->state == STEP_OBSERVED)
        place_describe(packer, packer->state->as_if, step);
}

void as_if_place(const struct packer *packer, struct step *step)
{
    struct scene scene = {packer, packer->state->as_if, true};
    struct berth_error err;

    if (!as_if_sync(packer))
        return;
    rearrange_launch(&scene, step, &err);
    describe(packer);
}

void as_if_stand(const struct packer *packer, struct pool *next)
{
    as_if_close(packer);
    *packer->state->as_if = *next;
    describe(packer);
}
