/* SPDX-License-Identifier: GPL-2.0-or-later */
/* binders - see binders.h */
#include "packer/enact/binders.h"

#include <math.h>
#include <stdio.h>

#include "packer/base/log.h"
#include "packer/enact/bindings.h"
#include "packer/enact/care.h"
#include "packer/observe/learn.h"
#include "packer/steps/journal.h"
#include "packer/slurm/steps/pool_marker.h"
#include "packer/steps/stage.h"

#define TURN_S 0.001
#define REST_S 0.01
#define LOOKS_MAX 30 /* windows: 2 to that power */

/* Did the plugin say at the start that its threads are bound, or may be? */
static bool was_known(const struct wire_register *request)
{
    return request->bound_by_hand ||
           (request->pin != WIRE_PIN_NONE && request->pin != WIRE_PIN_MEMORY &&
            request->pin != WIRE_PIN_DEVICE && request->pin != WIRE_PIN_LOOKS);
}

/* Would a thread with a mask of its own say something of the program? */
static bool tells(const struct step *step)
{
    return step->request.options.mode != WIRE_MODE_OFF && !was_known(&step->request) &&
           !step->body.ranks && !step->ranks.n && !step->inside.shuffled && !step->binder.blind;
}

/* Has its first window not ended? Its tasks set their affinity to what berthd has answered, and may
 * do so when they have been moved again. */
static bool is_young(const struct packer *packer, const struct step *step)
{
    return clock_s() - step->started_mono_s < (double)packer->world.conf.window_ms / 1000;
}

void binders_note(const struct packer *packer, struct step *step)
{
    char name[WIRE_STEP_NAME_MAX];

    if (step->binder.seen || !tells(step) || is_young(packer, step))
        return;
    step->binder.seen = true;
    learn_binding(packer, step, true);
    wire_step_name(step->request.id, name);
    log_debug("step %s: its program binds its threads", name);
}

/* ---- a look ---- */

struct look {
    const struct enforce_step *body;
    pid_t tid; /* the first that is bound; 0: none */
    struct cpus to;
};

/* Does it lack a CPU of its task? Where that is not known, of each task. */
static bool is_bound(const struct enforce_step *body, long task, const struct cpus *now)
{
    if (task >= 0)
        return !cpus_subset(&body->task[task].home, now);
    for (size_t i = 0; i < body->ntasks; i++)
        if (cpus_subset(&body->task[i].home, now))
            return false;
    return true;
}

static void visit(pid_t tid, long task, const struct cpus *now, void *arg)
{
    struct look *look = arg;

    if (look->tid || !is_bound(look->body, task, now))
        return;
    look->tid = tid;
    look->to = *now;
}

/* It is not moved any more, but where it is by its user's word. Returns whether it has left berth's
 * care. */
static bool keep(const struct packer *packer, struct step *step, const struct look *look)
{
    if (!step_movable(step) || care_moves(packer, step) ||
        !care_leave_bound(packer, step, look->tid, &look->to))
        return false;
    journal_note(packer, step);
    pool_marker_update(packer, step->request.id.job);
    return true;
}

/* Is it where its threads' masks are what Slurm gave, or what its program made of that? */
static bool is_at_home(const struct packer *packer, const struct step *step)
{
    const struct wire_step_id id = step->request.id;

    return enforce_at_home(&step->body) && !step->enacted.away &&
           !enforce_settles(packer->world.enforce, id, ENFORCE_HOME) &&
           !enforce_settles(packer->world.enforce, id, ENFORCE_PLACE);
}

static bool look_at(const struct packer *packer, struct step *step)
{
    struct look look = {.body = &step->body};
    int rc = 0;

    if (is_at_home(packer, step))
        rc = enforce_each_mask(packer->world.enforce, &step->body, BINDINGS_THREADS, visit, &look);
    step->binder.looked = true;
    step->binder.blind = rc != 0 && !look.tid;
    if (!look.tid)
        return false;
    binders_note(packer, step);
    return keep(packer, step, &look);
}

/* ---- when ---- */

/* When the step is to be looked at (CLOCK_MONOTONIC): at the end of a window, where others are,
 * too. */
static double due_of(const struct packer *packer, const struct step *step)
{
    double window_s = (double)packer->world.conf.window_ms / 1000;

    return ceil(step->started_mono_s / window_s + (double)(UINT64_C(1) << step->binder.looks)) *
           window_s;
}

/* What is seen has a use where programs have to be known that bear a move. */
static bool is_watched(const struct packer *packer, const struct step *step)
{
    return packer->world.conf.move == CONF_MOVE_KNOWN && packer->world.enforce->way->touches &&
           !step->binder.seen && tells(step) && step->binder.looks < LOOKS_MAX;
}

/* Looks at the threads of steps at home, where that is due, for a millisecond at most. One that is
 * seen to bind them is not moved any more. Returns whether one has left berth's care. */
static bool binders_turn(const struct packer *packer)
{
    double began_s = clock_s();
    struct step *step;
    bool left = false;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!is_watched(packer, step) || due_of(packer, step) > began_s ||
            clock_s() - began_s > TURN_S)
            continue;
        left = look_at(packer, step) || left;
        while (step->binder.looks < LOOKS_MAX && due_of(packer, step) <= began_s)
            step->binder.looks++;
    }
    return left;
}

/* Seconds until the next look, or < 0: none. */
static double binders_due(const struct packer *packer)
{
    double due_s = INFINITY;
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (is_watched(packer, step))
        due_s = fmin(due_s, due_of(packer, step));
    return isinf(due_s) ? -1 : fmax(due_s - clock_s(), REST_S);
}

/* Would it have been seen that the program binds its threads? Who has one CPU at home, and is not
 * moved, cannot lack one. */
static bool would_show(const struct step *step)
{
    if (step->enacted.moves > 0)
        return true;
    for (size_t i = 0; i < step->body.ntasks; i++)
        if (cpus_count(&step->body.task[i].home) < 2)
            return false;
    return true;
}

/* The step is over. Where an earlier run of its program bound its threads, and this one was looked
 * at and bound none, that counts for the program. `end` NULL: nobody knows how it ended. */
static void binders_end(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    if (end && end->exit_status == 0 && step->profile.bound_at && step->binder.looked &&
        !step->binder.seen && tells(step) && would_show(step))
        learn_binding(packer, step, false);
}

/* ---- the stage ---- */

static void look_turn(const struct packer *packer, struct turn *turn)
{
    turn->places |= binders_turn(packer);
}

const struct stage binders_stage = {
    .name = "binders",
    .end = binders_end,
    .turn = look_turn,
    .due = binders_due,
    .rests = true,
};
