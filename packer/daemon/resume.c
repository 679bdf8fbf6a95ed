/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resume - what berthd does with the steps of its journal when it starts (pipeline.h). */
#include "packer/bill/bill.h"
#include "packer/daemon/ending.h"
#include "packer/daemon/identify.h"
#include "packer/daemon/ledger_record.h"
#include "packer/daemon/missed.h"
#include "packer/daemon/pipeline.h"
#include "packer/daemon/stages.h"
#include "packer/daemon/sweep.h"
#include "packer/enact/as_if.h"
#include "packer/enact/care.h"
#include "packer/enact/enact.h"
#include "packer/enact/offline.h"
#include "packer/enact/rearrange.h"
#include "packer/enact/release.h"
#include "packer/inside/inside.h"
#include "packer/place/forecast.h"
#include "packer/steps/adopt.h"
#include "packer/steps/journal.h"
#include "packer/slurm/steps/pool_marker.h"

/* The journal cannot be read to its end: what it has until there goes home, as far as it runs. */
static int set_aside(const struct packer *packer, struct berth_error *err)
{
    struct step *step;

    adopt_hand(packer);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (adopt_of(packer, step) == ADOPT_SAME) {
            inside_undo(packer, step);
            enact_bring_home(packer, step);
        }
        enforce_unregister(packer->world.enforce, step->request.id);
    }
    return journal_set_aside(packer, err);
}

/* Forgets the steps under whose names others run: their job was requeued while there was no berthd.
 */
static void forget_others(const struct packer *packer)
{
    struct step *step = TAILQ_FIRST(&packer->steps->live), *next;

    for (; step; step = next) {
        next = TAILQ_NEXT(step, link);
        if (adopt_of(packer, step) != ADOPT_OTHER)
            continue;
        log_warn("step %u.%u: what runs under its name is another one; forgotten",
                 step->request.id.job, step->request.id.step);
        care_disown(packer, step);
        inside_disown(step);
        step_over(packer, step, NULL);
    }
}

/* Who the steps of the journal are and what they were billed, also of those that ended while there
 * was no berthd. */
static void adopt_known(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        packer_call_node(packer, step);
        stages_adopt_known(packer, step);
    }
    bill_adopted(packer);
    identify_resume(packer);
}

/* Says of adopted steps what a berthd says of those that start: where one would stand that is only
 * observed, and the slowdowns. Nobody is moved: which steps there are has not changed. */
static void foretell(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->state == STEP_OBSERVED)
        as_if_place(packer, step);
    if (packer->state->ledger)
        forecast_slowdowns(packer);
}

int pipeline_resume(const struct packer *packer, struct berth_error *err)
{
    struct step *step;

    if (journal_load(packer, err) < 0 && set_aside(packer, err) < 0)
        return -1;
    adopt_hand(packer);
    adopt_places(packer);
    pool_marker_update_all(packer); /* from here on each is kept up as its steps go */
    inside_resume(packer);
    release_leave(packer);
    adopt_known(packer);
    offline_leave(packer);
    forget_others(packer);
    sweep_unknown(packer);
    sweep_steps(packer, 0); /* whose end was not heard of, while there was no berthd */
    TAILQ_FOREACH(step, &packer->steps->live, link) stages_adopt(packer, step);
    if (rearrange(packer, NULL, ENACT_ALL | REARRANGE_DEAL, err) < 0)
        return -1;
    foretell(packer);
    if (packer->steps->nlive)
        log_info("adopted %zu running steps", packer->steps->nlive);
    ledger_record_resume(packer);
    missed_read(packer, pipeline_end);
    if (journal_compact(packer, true, err) <
        0) /* the old one is whole; the next sweep tries again */
        log_error("%s", err->text);
    return 0;
}
