/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranks - see ranks.h */
#include "packer/observe/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/observe/ranks_look.h"
#include "packer/observe/seek.h"
#include "packer/steps/stage.h"
#include "packer/system/process_look.h"

#define SOON_S 0.2   /* an answer is looked for, if nobody comes sooner */
#define WORKS 0.1    /* of a core: who uses more works, and does not only wait */
#define FIRST_S 0.25 /* after the step began, its first look */

/* ---- an answer ---- */

static bool same_ranks(const struct step_ranks *ranks, const struct ranks_found *found)
{
    if (ranks->n != found->n)
        return false;
    for (size_t i = 0; i < found->n; i++)
        if (ranks->rank[i].pid != found->rank[i].pid ||
            !process_same(ranks->rank[i].started, found->rank[i].started))
            return false;
    return true;
}

/* Have those that are no ranks worked since the last look? */
static bool others_work(const struct step_ranks *ranks, const struct ranks_found *found)
{
    double seconds = found->at_s - ranks->at_s;

    return found->others_ns - ranks->others_ns > WORKS * 1e9 * (seconds > 1 ? seconds : 1);
}

static bool keep_ranks(struct step_ranks *ranks, const struct ranks_found *found)
{
    struct step_rank *rank = calloc(found->n + 1, sizeof(*rank));

    if (!rank)
        return false;
    memcpy(rank, found->rank, found->n * sizeof(*rank));
    free(ranks->rank);
    ranks->rank = rank;
    ranks->n = found->n;
    return true;
}

/* Without ranks the looks come less and less often. */
static void wait_for_next(struct step_ranks *ranks)
{
    if (ranks->n)
        ranks->apart_s = RANKS_LOOK_S;
    else
        ranks->apart_s = ranks->apart_s < RANKS_APART_S / 2 ? 2 * ranks->apart_s : RANKS_APART_S;
    ranks->due_s = clock_s() + ranks->apart_s;
}

void ranks_hear(struct step *step, const struct ranks_found *found)
{
    struct step_ranks *ranks = &step->ranks;
    bool steady, busy;

    ranks->asked = false;
    if (found) {
        steady = found->n && same_ranks(ranks, found);
        busy = steady && others_work(ranks, found);
    }
    if (found && keep_ranks(ranks, found)) {
        ranks->steady = steady;
        ranks->busy = busy || (steady && ranks->busy); /* until other ranks come */
        ranks->calls = found->calls;
        ranks->others_ns = found->others_ns;
        ranks->at_s = found->at_s;
        snprintf(ranks->launcher, sizeof(ranks->launcher), "%s", found->launcher);
        ranks->heard++;
    }
    wait_for_next(ranks);
}

/* ---- the stage ---- */

/* May there be ranks in the step? Where srun starts them, they are tasks. */
static bool may_have(const struct step *step)
{
    return step->request.by_cpu && step->request.options.mode != WIRE_MODE_OFF &&
           step->ranks.looked != HANDS_HUNG;
}

/* Asks for one step; what cannot be asked now is asked later. */
static void ask(const struct packer *packer, struct step *step)
{
    struct step_ranks *ranks = &step->ranks;
    pid_t *pid = NULL;
    size_t n = 0;

    if (enforce_step_pids(packer->world.enforce, &step->body, &pid, &n) == 0)
        ranks->asked = seek_ask_ranks(packer->state->seeker, seek_step(step), pid, n);
    free(pid);
    if (!ranks->asked) {
        ranks->due_s = clock_s() + RANKS_LOOK_S;
        return;
    }
    ranks->asked_s = clock_s();
    packer_wake(packer, SOON_S);
}

/* When the step is to be looked at next. */
static double due_s(const struct step *step)
{
    return step->ranks.due_s > 0 ? step->ranks.due_s : step->started_mono_s + FIRST_S;
}

static void take_over(const struct packer *packer)
{
    struct ranks_found *found;
    struct seek_answer answer;
    struct step *step;

    while (seek_take_ranks(packer->state->seeker, &answer, &found)) {
        if ((step = registry_find_serial(packer->steps, answer.serial))) {
            seek_said(step, &step->ranks.looked, answer.state, "its ranks");
            ranks_hear(step, found);
        }
        free(found);
    }
}

/* Asks about the steps that it is time for. */
static void ranks_turn(const struct packer *packer, struct turn *turn)
{
    struct step *step;

    (void)turn;
    if (!packer->state->seeker)
        return;
    take_over(packer);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!may_have(step) || step->ranks.asked || clock_s() < due_s(step))
            continue;
        if (step->ranks.apart_s == 0)
            step->ranks.apart_s = FIRST_S;
        ask(packer, step);
    }
}

/* In how many seconds an answer is looked for: one that takes long takes longer. */
static double answer_s(const struct step *step)
{
    double waited_s = clock_s() - step->ranks.asked_s;

    return waited_s < SOON_S ? SOON_S : waited_s < RANKS_APART_S ? waited_s : RANKS_APART_S;
}

/* Returns the seconds until that is to be done again; < 0: there is no such step. */
static double ranks_due(const struct packer *packer)
{
    double in_s = -1, left_s;
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!may_have(step) || !packer->state->seeker)
            continue;
        left_s = step->ranks.asked ? answer_s(step) : due_s(step) - clock_s();
        in_s = clock_sooner(in_s, left_s > 0 ? left_s : 0);
    }
    return in_s;
}

const struct stage ranks_stage = {.name = "ranks", .turn = ranks_turn, .due = ranks_due};
