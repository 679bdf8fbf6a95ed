/* SPDX-License-Identifier: GPL-2.0-or-later */
/* release - see release.h */
#include "packer/enact/release.h"

#include <stdio.h>

#include "packer/size/size.h"
#include "packer/steps/journal.h"

#define REASON "released by root (berthctl release)"

/* A step that only was observed is where it belongs. */
static void leave(const struct packer *packer, struct step *step)
{
    bool moved = step_movable(step);

    if (step_go(step, STEP_LEFT) < 0)
        return;
    step->hold.away = moved;
    step->hold.verified = !moved && step->hold.verified;
    snprintf(step->hold.reason, sizeof(step->hold.reason), REASON);
    size_all(packer, step, REASON ": all that Slurm gave");
}

void release_leave(struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (step->released)
        leave(packer, step);
}

/* Is there anything that `id` names? The node always is. */
static bool exists(const struct packer *packer, struct wire_step_id id)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (step_is_named(step, id))
        return true;
    return id.job == UINT32_MAX;
}

int release_steps(struct packer *packer, struct wire_step_id id, struct berth_error *err)
{
    char name[WIRE_STEP_NAME_MAX];

    if (!exists(packer, id)) {
        wire_step_name(id, name);
        return berth_error_set(err, "%s: no such step runs here", name);
    }
    if (store_release(packer, id, err) < 0)
        return -1;
    registry_release(&packer->steps, id);
    release_leave(packer);
    return 0;
}

int release_end(struct packer *packer, struct berth_error *err)
{
    if (store_manage(packer, err) < 0)
        return -1;
    registry_manage(&packer->steps);
    return 0;
}

bool release_inherit(const struct packer *packer, struct step *step)
{
    const struct step *other;

    if (packer->steps.released)
        step->released = STEP_RELEASED;
    TAILQ_FOREACH(other, &packer->steps.live, link)
    if (other->request.id.job == step->request.id.job && other->released == STEP_JOB_RELEASED)
        step->released = STEP_JOB_RELEASED;
    return step->released != STEP_NOT_RELEASED;
}
