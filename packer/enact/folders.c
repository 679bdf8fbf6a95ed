/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folders - see folders.h */
#include "packer/enact/folders.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/log.h"
#include "packer/slurm/folder_watch.h"
#include "packer/slurm/job_watch.h"
#include "packer/steps/stage.h"
#include "packer/slurm/steps/strangers.h"

/* Watches for what can come beside this step: jobs on its node, steps of its job. A failure is
 * logged once, and left to the sweep. */
static void folders_watch(const struct packer *packer, struct step *step)
{
    static bool said;
    struct berth_error err;

    if (!packer->state->folders || (step->state != STEP_PLACED && step->state != STEP_OBSERVED) ||
        folder_watch_step(packer->state->folders, step->body.id, step->body.leaf, &err) == 0 ||
        said)
        return;
    said = true;
    log_warn("%s; strangers are found by the sweep", err.text);
}

/* Is the job one that berth looks after, or do its CPUs lie outside of the pool? */
static bool is_harmless(const struct packer *packer, uint32_t job, const struct cpus *cpus)
{
    const struct step *step;
    struct cpus pool = {0};

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (step_movable(step) && step->request.id.job == job)
            return true;
        if (step_movable(step))
            cpus_or(&pool, &step->body.job_home);
    }
    strangers_add_idle(packer, &pool);
    return !cpus_intersect(&pool, cpus);
}

/* A job is new, or its CPUs have been written. */
static void hear_job(const struct packer *packer, const struct folder_event *event)
{
    struct cpus cpus;

    if (enforce_read_cpus(&packer->world.root, event->dir, "cpuset.cpus", &cpus, NULL) < 0 ||
        cpus_empty(&cpus)) /* it has gone; or it will be written */
        return;
    if (registry_job_lives(packer->steps, event->id.job))
        return;
    folder_watch_settle(packer->state->folders, event->id.job);
    if (!is_harmless(packer, event->id.job, &cpus))
        strangers_expect_job(packer, event->id.job);
}

/* Returns whether all is to be read anew. */
static bool hear(const struct packer *packer, const struct folder_event *event)
{
    switch (event->what) {
    case FOLDER_JOB:
        hear_job(packer, event);
        return false;
    case FOLDER_STEP:
        strangers_expect(packer, event->id, false);
        return false;
    case FOLDER_GONE:
        return strangers_have(packer, event->id);
    default:
        return true;
    }
}

bool folders_turn(const struct packer *packer)
{
    struct folder_event event;
    bool anew = false;

    while (packer->state->folders && folder_watch_next(packer->state->folders, &event))
        anew |= hear(packer, &event);
    return anew ? strangers_read(packer) : strangers_look(packer);
}

double folders_due(const struct packer *packer)
{
    return strangers_due(packer);
}

/* ---- the stage ---- */

/* Opens the watches over job lists and over new folders. Without them, what Slurm writes is noticed
 * when the new step is registered, and who comes by the sweep. */
static int open_watches(const struct packer *packer, struct berth_error *unused)
{
    struct berth_error err;

    (void)unused;
    if (packer->world.enforce->way->job_list && job_watch_open(&packer->state->watch, &err) < 0)
        log_warn("%s", err.text);
    if (packer->world.enforce->way->jobs &&
        folder_watch_open(&packer->state->folders, enforce_slurm(packer->world.enforce), &err) < 0)
        log_warn("%s", err.text);
    return 0;
}

static void close_watches(const struct packer *packer)
{
    folder_watch_close(packer->state->folders);
    job_watch_close(packer->state->watch);
}

/* A job with no live step is not watched. */
static void unwatch(const struct packer *packer, struct wire_step_id id)
{
    if (registry_job_lives(packer->steps, id.job))
        return;
    if (packer->state->watch)
        job_watch_drop(packer->state->watch, id.job);
    if (packer->state->folders)
        folder_watch_settle(packer->state->folders, id.job);
}

const struct stage folders_stage = {
    .name = "folders",
    .open = open_watches,
    .close = close_watches,
    .begin = folders_watch,
    .gone = unwatch,
};
