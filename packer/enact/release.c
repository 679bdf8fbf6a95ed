/* SPDX-License-Identifier: GPL-2.0-or-later */
/* release - see release.h */
#include "packer/enact/release.h"

#include "packer/enact/care.h"
#include "packer/steps/journal.h"

void release_leave(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->released)
        step_leave(packer, step, WIRE_LEFT_RELEASED, NULL);
}

/* Is there anything that `id` names? The node always is. */
static bool exists(const struct packer *packer, struct wire_step_id id)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step_is_named(step, id))
        return true;
    return id.job == UINT32_MAX;
}

int release_steps(const struct packer *packer, struct wire_step_id id, struct berth_error *err)
{
    char name[WIRE_STEP_NAME_MAX];

    if (!exists(packer, id)) {
        wire_step_name(id, name);
        return berth_error_set(err, "%s: no such step runs here", name);
    }
    if (journal_release(packer, id, err) < 0)
        return -1;
    registry_release(packer->steps, id);
    release_leave(packer);
    return 0;
}

int release_end(const struct packer *packer, struct berth_error *err)
{
    if (journal_manage(packer, err) < 0)
        return -1;
    registry_manage(packer->steps);
    return 0;
}
