/* SPDX-License-Identifier: GPL-2.0-or-later */
/* release - see release.h */
#include "release.h"

#include <stdio.h>

#include "size.h"
#include "store.h"

#define REASON "released by root (berthctl release)"

bool release_means(struct wire_step_id id, const struct step *step)
{
    return (id.job == UINT32_MAX || id.job == step->request.id.job) &&
           (id.step == UINT32_MAX || id.step == step->request.id.step);
}

static enum step_released scope_of(struct wire_step_id id)
{
    return id.job != UINT32_MAX && id.step == UINT32_MAX ? STEP_JOB_RELEASED : STEP_RELEASED;
}

/* A step that only was observed is where it belongs. */
static void mark(const struct packer *packer, struct step *step, enum step_released scope)
{
    bool moved = step_movable(step);

    if (step->released < scope)
        step->released = scope;
    if (step_go(step, STEP_LEFT) < 0)
        return;
    step->hold.away = moved;
    step->hold.verified = !moved && step->hold.verified;
    snprintf(step->hold.reason, sizeof(step->hold.reason), REASON);
    size_all(packer, step, REASON ": all that Slurm gave");
}

void release_mark(struct packer *packer, struct wire_step_id id)
{
    struct step *step;

    packer->released |= id.job == UINT32_MAX;
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (release_means(id, step))
        mark(packer, step, scope_of(id));
}

/* Is there anything that `id` names? The node always is. */
static bool exists(const struct packer *packer, struct wire_step_id id)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (release_means(id, step))
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
    release_mark(packer, id);
    return 0;
}

void release_unmark(struct packer *packer)
{
    struct step *step;

    packer->released = false;
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (step->released == STEP_JOB_RELEASED)
        step->released = STEP_RELEASED;
}

int release_end(struct packer *packer, struct berth_error *err)
{
    if (store_manage(packer, err) < 0)
        return -1;
    release_unmark(packer);
    return 0;
}

bool release_inherit(const struct packer *packer, struct step *step)
{
    const struct step *other;

    if (packer->released)
        step->released = STEP_RELEASED;
    TAILQ_FOREACH(other, &packer->steps.live, link)
    if (other->request.id.job == step->request.id.job && other->released == STEP_JOB_RELEASED)
        step->released = STEP_JOB_RELEASED;
    return step->released != STEP_NOT_RELEASED;
}
