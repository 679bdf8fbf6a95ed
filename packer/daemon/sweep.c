/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sweep - see sweep.h */
#include "packer/daemon/sweep.h"

#include <stdlib.h>

#include "packer/base/clock.h"
#include "packer/counters/counters.h"
#include "packer/daemon/ending.h"
#include "packer/daemon/identify.h"
#include "packer/enact/rearrange.h"
#include "packer/steps/journal.h"
#include "packer/steps/rest.h"
#include "packer/slurm/steps/strangers.h"

/* Returns the names of the live steps, or of those only that began elsewhere and have to stay, *n
 * of them, which the caller frees; NULL for want of memory. */
static struct wire_step_id *list_live(const struct packer *packer, bool kept_only, size_t *n)
{
    struct wire_step_id *known = calloc(packer->steps->nlive + 1, sizeof(*known));
    const struct step *step;

    *n = 0;
    if (known)
        TAILQ_FOREACH(step, &packer->steps->live, link)
    if (!kept_only || !cpus_empty(&step->body.begun))
        known[(*n)++] = step->request.id;
    return known;
}

void sweep_unknown(const struct packer *packer)
{
    size_t given = 0, n;
    struct wire_step_id *known = list_live(packer, false, &n);
    struct berth_error err = {""};
    const struct step *step;
    struct slurm_job job;

    TAILQ_FOREACH(step, &packer->steps->live, link) /* so that it knows their folders */
    slurm_job_of(enforce_slurm(packer->world.enforce), step->body.id, step->body.leaf, &job);
    if (known && packer->world.enforce->way->give_back)
        given = packer->world.enforce->way->give_back(packer->world.enforce, known, n, &err);
    if (given)
        log_warn("%zu steps that are not in the journal have the CPUs back that Slurm gave them",
                 given);
    if (err.text[0])
        log_error("%s", err.text);
    free(known);
}

void sweep_folders(const struct packer *packer, bool keep_live)
{
    size_t n;
    struct wire_step_id *known = list_live(packer, !keep_live, &n);
    struct berth_error err;

    if (!known)
        return;
    if (packer->world.enforce->way->clean &&
        packer->world.enforce->way->clean(packer->world.enforce, known, n, &err) < 0)
        log_warn("%s", err.text);
    counters_sweep(packer->state->counters, known, keep_live ? n : 0);
    free(known);
}

/* Has the step had no process for so long? Its end is on the way for a moment after the last. */
static bool has_vanished(const struct packer *packer, struct step *step, double patience_s)
{
    if (enforce_step_alive(packer->world.enforce, &step->body)) {
        step->empty_mono_s = 0;
        return false;
    }
    if (step->empty_mono_s == 0)
        step->empty_mono_s = clock_s();
    return clock_s() - step->empty_mono_s >= patience_s;
}

/* Does nobody have to look who has come and gone? While berthd rests nobody has, if somebody tells
 * it of Slurm's folders, and of the ends of all slurmstepds. */
static bool is_told(const struct packer *packer)
{
    const struct step *step;

    if ((!packer->state->folders && packer->world.enforce->way->jobs) || !packer->state->stepds ||
        clock_s() - packer->state->tally->swept_s >= REST_RARELY_S || !rest_may(packer))
        return false;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (!step->body.stepd || step->empty_mono_s > 0)
        return false;
    return true;
}

/* Takes those that have vanished out of the books. */
static void sweep_vanished(const struct packer *packer, double patience_s)
{
    struct step *step = TAILQ_FIRST(&packer->steps->live), *next;

    for (; step; step = next) {
        next = TAILQ_NEXT(step, link);
        if (!has_vanished(packer, step, patience_s))
            continue;
        log_info("step %u.%u vanished", step->request.id.job, step->request.id.step);
        step_over(packer, step, NULL);
    }
}

/* What is in Slurm's folders and in berth's own. */
static void sweep_others(const struct packer *packer)
{
    strangers_read(packer);
    rearrange_room(packer); /* for whom Slurm put beside a job of the pool, too */
    sweep_folders(packer, true);
    identify_look(packer);
    packer->state->tally->swept_s = clock_s();
}

void sweep_steps(const struct packer *packer, double patience_s)
{
    struct berth_error err;

    if (journal_is_stale(packer) &&
        journal_compact(packer, true, &err) < 0) /* before anything is changed */
        log_error("%s", err.text);
    if (!is_told(packer)) {
        sweep_vanished(packer, patience_s);
        sweep_others(packer);
    }
    if (journal_compact(packer, false, &err) < 0)
        log_error("%s", err.text);
}
