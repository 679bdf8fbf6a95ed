/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arrange - the stage that gives the steps their places: when one begins, in each turn in which the
 * stages before it want cores dealt anew, and home when one ends or berthd stops. */
#include <stdio.h>

#include "packer/enact/as_if.h"
#include "packer/enact/care.h"
#include "packer/enact/enact.h"
#include "packer/enact/rearrange.h"
#include "packer/place/place.h"
#include "packer/place/reason.h"
#include "packer/steps/journal.h"
#include "packer/steps/stage.h"

/* The step runs where Slurm put it, whether berth likes it or not: others leave its cores. */
static void keep_off(const struct packer *packer, struct step *step, const char *by)
{
    struct berth_error err;

    step_leave(packer, step, WIRE_LEFT_KERNEL, by);
    step->enacted.unplaced = true;
    if (rearrange(packer, step, 0, &err) < 0)
        log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
    else
        journal_note(packer, step);
}

/* A step that has to stay has its place, and its tasks do not run yet. One that begins at home is
 * left alone like any other that has to stay. */
static void begin_kept(const struct packer *packer, struct step *step)
{
    struct care_why stays = care_stays(packer, step);
    char why[CARE_BY_MAX];

    if (enforce_at_home(&step->body)) {
        step->enacted.kept = false;
        care_leave(packer, step, stays.left ? stays.left : WIRE_LEFT_UNREAD, stays.by);
        step->enacted.away = false;
    } else {
        enforce_union(&step->body, ENFORCE_PLACE, &step->body.begun);
        snprintf(step->enacted.reason, sizeof(step->enacted.reason), "stays where it began: %.300s",
                 stays.left ? care_text(&stays, why, sizeof(why)) : "it has to");
    }
    journal_note(packer, step);
}

/* Finds all steps their places, now that there is one more. Also describes where the step now
 * stands, in any case. */
static void arrange(const struct packer *packer, struct step *step)
{
    struct berth_error err;

    if (journal_start(packer, step, &err) < 0 || rearrange(packer, step, 0, &err) < 0) {
        log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
        keep_off(packer, step, err.text);
    }
    if (step->enacted.kept && step_movable(step))
        begin_kept(packer, step);
    place_describe(packer, packer->pool, step);
    if (step->state == STEP_OBSERVED)
        as_if_place(packer, step); /* decides, and only records it */
}

/* Journals why the steps stand where they stand, where a decision has changed that: a berthd after
 * this one is asked, too. No launch waits for it. */
static void keep_whys(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (place_note_why(step))
        journal_note(packer, step);
}

static void arrange_turn(const struct packer *packer, struct turn *turn)
{
    turn->again |= rearrange_turn(packer);
    if (turn->places || turn->steps_changed)
        rearrange_deal(packer);
    keep_whys(packer);
}

static void go_home(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    (void)end;
    enact_bring_home(packer, step);
}

static void restore(const struct packer *packer, struct step *step)
{
    if (step_movable(step) || step->enacted.away)
        enact_restore(packer, step);
}

const struct stage arrange_stage = {
    .name = "arrange",
    .close = as_if_close,
    .begin = arrange,
    .adopt = stage_keeps, /* all are arranged at once when all are adopted */
    .end = go_home,
    .undo = restore,
    .turn = arrange_turn,
};
