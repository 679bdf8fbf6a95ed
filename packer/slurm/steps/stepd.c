/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stepd - see stepd.h */
#include "packer/slurm/steps/stepd.h"

#include "packer/base/log.h"
#include "packer/steps/stage.h"
#include "packer/system/process_watch.h"

static uint64_t tag_of(struct wire_step_id id)
{
    return (uint64_t)id.job << 32 | id.step;
}

void stepd_watch(const struct packer *packer, const struct step *step)
{
    const struct enforce_step *body = &step->body;
    struct berth_error err;

    if (!packer->state->stepds || !body->stepd)
        return;
    if (process_watch_add(packer->state->stepds, tag_of(step->request.id), body->stepd,
                          body->stepd_started, &err) < 0)
        log_warn("step %u.%u: its slurmstepd is not watched: %s", step->request.id.job,
                 step->request.id.step, err.text);
    if (stepd_due(packer) >= 0)
        packer_wake(packer, stepd_due(packer));
}

static void stepd_unwatch(const struct packer *packer, struct step *step,
                          const struct wire_end *end)
{
    (void)end;
    if (packer->state->stepds)
        process_watch_drop(packer->state->stepds, tag_of(step->request.id));
}

struct step *stepd_next_gone(const struct packer *packer)
{
    struct step *step;
    uint64_t tag;

    while (packer->state->stepds && process_watch_next(packer->state->stepds, &tag)) {
        struct wire_step_id id = {.job = (uint32_t)(tag >> 32), .step = (uint32_t)tag};

        if ((step = registry_find(packer->steps, id)))
            return step;
    }
    return NULL;
}

double stepd_due(const struct packer *packer)
{
    return packer->state->stepds ? process_watch_due(packer->state->stepds) : -1;
}

/* ---- the stage ---- */

/* Without it, what becomes of steps is found out by the sweep. */
static int open_stepds(const struct packer *packer, struct berth_error *unused)
{
    struct berth_error err;

    (void)unused;
    if (process_watch_open(&packer->state->stepds, &packer->world.root, &err) < 0)
        log_warn("%s", err.text);
    return 0;
}

static void close_stepds(const struct packer *packer)
{
    process_watch_close(packer->state->stepds);
}

static void watch(const struct packer *packer, struct step *step)
{
    stepd_watch(packer, step);
}

const struct stage stepd_stage = {
    .name = "slurmstepd",
    .open = open_stepds,
    .close = close_stepds,
    .begin = watch,
    .end = stepd_unwatch,
    .due = stepd_due,
};
