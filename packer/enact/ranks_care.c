/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranks_care - see ranks_care.h */
#include "packer/enact/ranks_care.h"

#include <stdio.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/base/log.h"
#include "packer/enact/care.h"
#include "packer/enact/rearrange.h"
#include "packer/observe/ranks_look.h"
#include "packer/place/place.h"
#include "packer/size/size.h"
#include "packer/size/sizing.h"
#include "packer/steps/journal.h"
#include "packer/slurm/steps/pool_marker.h"
#include "packer/steps/rank_tasks.h"
#include "packer/steps/stage.h"
#include "packer/steps/stand.h"

#define RANKS_WHY_MAX 128

/* ---- what speaks against it ---- */

/* Was each bound to a part of the step's home? */
static bool all_bound(const struct step *step)
{
    const struct step_ranks *ranks = &step->ranks;
    struct cpus whole;

    rank_tasks_whole(step, &whole);
    for (size_t i = 0; i < ranks->n; i++)
        if (cpus_subset(&whole, &ranks->rank[i].cpus))
            return false;
    return true;
}

/* Returns why the ranks can be no tasks, or NULL. */
static const char *no_tasks(const struct step *step)
{
    if (!step->body.leaf[0])
        return "Slurm does not constrain the step's cores";
    if (step->inside.run)
        return "something is changed inside the step";
    if (step->ranks.busy)
        return "something beside the ranks works in the step";
    return NULL;
}

/* Returns what of the ranks' executables speaks against moving them, or NULL. */
static const char *unbearing(const struct step *step, char text[RANKS_WHY_MAX])
{
    const struct wire_calls *calls = &step->ranks.calls;
    struct care_why why = care_pin(calls->pin, calls->by);

    if (calls->pin == WIRE_PIN_UNREAD && strcmp(calls->by, RANKS_CLOSED) == 0)
        return "berthd cannot read their executables (without CAP_SYS_PTRACE)";
    return why.left ? care_text(&why, text, RANKS_WHY_MAX) : NULL;
}

/* Returns why the step is not placed for the sake of its ranks, or NULL. */
static const char *not_placed(const struct step *step, char why[RANKS_WHY_MAX])
{
    const char *no = no_tasks(step);

    if (no)
        return no;
    if (!all_bound(step))
        return "their launcher has not bound them to cores";
    return unbearing(step, why);
}

/* Is it left only because nobody knows what it starts? */
static bool is_left_unread(const struct packer *packer, const struct step *step)
{
    return step->enacted.unread && packer->world.conf.move == CONF_MOVE_KNOWN && !step->released;
}

/* ---- what is done ---- */

static void say_why(struct step *step, const char *why)
{
    snprintf(step->enacted.ranks_why, sizeof(step->enacted.ranks_why), "%s", why ? why : "");
}

/* Others make room, or the step finds its place. */
static int settle_down(const struct packer *packer, struct step *fresh)
{
    struct berth_error err;
    int rc = rearrange(packer, fresh, 0, &err);

    if (rc < 0)
        log_error("ranks: %s", err.text);
    packer_note_change(packer);
    return rc;
}

/* The ranks are the tasks now, and each is sized. 0, or -1 for want of memory. */
static int make_tasks(const struct packer *packer, struct step *step)
{
    char name[WIRE_STEP_NAME_MAX];

    if (rank_tasks_take(step, step->ranks.rank, step->ranks.n) < 0)
        return -1;
    wire_step_name(step->request.id, name);
    log_debug("step %s: %zu ranks of %s are its tasks", name, step->ranks.n, step->ranks.launcher);
    if (sizing_reason(step))
        size_all(packer, step, "its ranks have the cores that they are bound to");
    else
        size_node(packer, step);
    return 0;
}

/* Its tasks are those again that Slurm has started: of a step that is at home, or that is placed
 * whatever it starts. */
static void drop(const struct packer *packer, struct step *step)
{
    rank_tasks_drop(step);
    size_all(packer, step,
             step_movable(step) ? "its ranks are over" : "left alone: all that Slurm gave");
    journal_note(packer, step);
    if (step_movable(step))
        settle_down(packer, step);
    place_describe(packer, packer->pool, step);
}

/* Brings the step home, with its ranks. */
static void leave(const struct packer *packer, struct step *step)
{
    struct care_why stays = care_pin(step->request.pin, step->request.pin_by);

    if (step_leave(packer, step, stays.left ? stays.left : WIRE_LEFT_RANKS, stays.by) < 0)
        return;
    step->enacted.unread = true;
    settle_down(packer, NULL);
    pool_marker_update(packer, step->request.id.job);
}

/* Places a step that was left. */
static void enter(const struct packer *packer, struct step *step)
{
    char text[RANKS_WHY_MAX];
    enum wire_left unfit;

    if (make_tasks(packer, step) < 0)
        return;
    unfit = stand_unfit(packer, &step->body);
    if (unfit || step_go(step, STEP_PLACED) < 0) {
        say_why(step, wire_left_text(unfit, NULL, text, sizeof(text)));
        rank_tasks_drop(step);
        return;
    }
    step->enacted.verified = packer->world.enforce->way->touches;
    step->enacted.reason[0] = '\0';
    journal_note(packer, step);
    if (settle_down(packer, step) < 0)
        leave(packer, step);
    place_describe(packer, packer->pool, step);
    pool_marker_update(packer, step->request.id.job);
}

/* Other ranks than before. */
static void change(const struct packer *packer, struct step *step)
{
    if (rank_tasks_are(step, step->ranks.rank, step->ranks.n) || make_tasks(packer, step) < 0)
        return;
    journal_note(packer, step);
    settle_down(packer, step);
    place_describe(packer, packer->pool, step);
}

/* ---- the turn ---- */

static bool is_lost(const struct step *step)
{
    return step->ranks.asked && clock_s() - step->ranks.asked_s > RANKS_LOST_S;
}

/* A step that is placed whatever it starts. */
static void follow_asked(const struct packer *packer, struct step *step)
{
    bool over = is_lost(step) || step->ranks.n == 0;
    const char *why = over ? NULL : no_tasks(step);

    say_why(step, why);
    if (step->body.ranks && (over || why))
        drop(packer, step);
    else if (!over && !why && (step->body.ranks || step->ranks.steady))
        change(packer, step);
}

/* One that is placed for the sake of its ranks. */
static void follow_placed(const struct packer *packer, struct step *step)
{
    bool over = is_lost(step) || step->ranks.n == 0;
    char why[RANKS_WHY_MAX];
    const char *no;

    if (over) {
        say_why(step, NULL);
        leave(packer, step);
        return;
    }
    change(packer, step); /* their homes first: it may have to go there */
    no = no_tasks(step);
    if (!no)
        no = unbearing(step, why);
    say_why(step, no);
    if (no)
        leave(packer, step);
}

static void follow_left(const struct packer *packer, struct step *step)
{
    char why[RANKS_WHY_MAX];
    const char *no;

    if (step->ranks.n == 0) {
        say_why(step, NULL);
        return;
    }
    no = is_left_unread(packer, step) ? not_placed(step, why) : "the step is left alone";
    say_why(step, no);
    if (!no && step->ranks.steady)
        enter(packer, step);
}

static void follow(const struct packer *packer, struct step *step)
{
    step->enacted.ranks_heard = step->ranks.heard;
    if (!step_may_move(step))
        follow_left(packer, step);
    else if (care_stays(packer, step).left)
        follow_placed(packer, step);
    else
        follow_asked(packer, step);
}

void ranks_care_turn(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (step->enacted.away)
            continue; /* it is on its way home */
        if (step->registered && !step_movable(step))
            drop(packer, step);
        if (step->ranks.heard != step->enacted.ranks_heard || (step->body.ranks && is_lost(step)))
            follow(packer, step);
    }
}

static void care_turn(const struct packer *packer, struct turn *turn)
{
    (void)turn;
    ranks_care_turn(packer);
}

const struct stage ranks_care_stage = {.name = "ranks' care", .turn = care_turn};
