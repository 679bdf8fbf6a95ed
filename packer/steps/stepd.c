/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stepd - see stepd.h */
#include "packer/steps/stepd.h"

#include "packer/base/log.h"
#include "packer/system/process_watch.h"

static uint64_t tag_of(struct wire_step_id id)
{
    return (uint64_t)id.job << 32 | id.step;
}

void stepd_watch(struct packer *packer, const struct step *step)
{
    const struct enforce_step *body = &step->body;
    struct berth_error err;

    if (!packer->stepds || !body->stepd)
        return;
    if (process_watch_add(packer->stepds, tag_of(step->request.id), body->stepd,
                          body->stepd_started, &err) < 0)
        log_warn("step %u.%u: its slurmstepd is not watched: %s", step->request.id.job,
                 step->request.id.step, err.text);
    if (packer->wake && stepd_due(packer) >= 0)
        packer->wake(packer->wake_arg, stepd_due(packer));
}

void stepd_unwatch(struct packer *packer, const struct step *step)
{
    if (packer->stepds)
        process_watch_drop(packer->stepds, tag_of(step->request.id));
}

struct step *stepd_next_gone(struct packer *packer)
{
    struct step *step;
    uint64_t tag;

    while (packer->stepds && process_watch_next(packer->stepds, &tag)) {
        struct wire_step_id id = {.job = (uint32_t)(tag >> 32), .step = (uint32_t)tag};

        if ((step = registry_find(&packer->steps, id)))
            return step;
    }
    return NULL;
}

double stepd_due(const struct packer *packer)
{
    return packer->stepds ? process_watch_due(packer->stepds) : -1;
}
