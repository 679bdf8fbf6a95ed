/* SPDX-License-Identifier: GPL-2.0-or-later */
/* care - see care.h */
#include "packer/enact/care.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "packer/enact/kept.h"
#include "packer/enact/trial.h"
#include "packer/size/size.h"
#include "packer/steps/stage.h"
#include "packer/steps/stand.h"
#include "enum_table.h"

/* What says that a step has to stay, as a reason to leave it. */
static const enum wire_left TABLE(pin_left, WIRE_PINS) = {
    ROW(WIRE_PIN_NONE) = WIRE_NOT_LEFT,      ROW(WIRE_PIN_ENVIRONMENT) = WIRE_LEFT_ENVIRONMENT,
    ROW(WIRE_PIN_CALLS) = WIRE_LEFT_CALLS,   ROW(WIRE_PIN_LOOKS) = WIRE_LEFT_CALLS,
    ROW(WIRE_PIN_STARTS) = WIRE_LEFT_STARTS, ROW(WIRE_PIN_MEMORY) = WIRE_LEFT_MEMORY,
    ROW(WIRE_PIN_DEVICE) = WIRE_LEFT_DEVICE, ROW(WIRE_PIN_UNREAD) = WIRE_LEFT_UNREAD,
};
TABLE_COMPLETE(pin_left);

/* Did its user ask for a word that can have no effect but by other cores? */
static bool asked_by_name(const struct wire_register *request)
{
    const struct wire_options *options = &request->options;

    return request->asked &&
           (options->isolate || options->edp || options->size || options->spread || options->pack ||
            options->policy_given || options->cores_max > 0);
}

/* Is it known where the step may stand for its devices: near them, or, as its user says, anywhere?
 */
static bool device_is_known(const struct step *step)
{
    return step->near.holds || step->request.options.nodevice;
}

struct care_why care_pin(enum wire_pin pin, const char *by)
{
    struct care_why why = {.left = pin_left[pin]};

    snprintf(why.by, sizeof(why.by), "%s", by ? by : "");
    return why;
}

const char *care_text(const struct care_why *why, char *text, size_t size)
{
    return wire_left_text(why->left, why->by, text, size);
}

/* Says which earlier run speaks against moving the program, if one does. */
static struct care_why bound_before(const struct step *step)
{
    struct care_why why = {.left = WIRE_LEFT_EARLIER, .by = "?"};
    time_t at = step->profile.bound_at;
    struct tm tm;

    if (at == 0)
        return (struct care_why){.left = WIRE_NOT_LEFT};
    if (localtime_r(&at, &tm))
        strftime(why.by, sizeof(why.by), "%Y-%m-%d", &tm);
    return why;
}

bool care_moves(const struct packer *packer, const struct step *step)
{
    return step->request.options.mode == WIRE_MODE_OBSERVE ||
           packer->world.conf.move == CONF_MOVE_ALL || asked_by_name(&step->request);
}

struct care_why care_stays(const struct packer *packer, const struct step *step)
{
    const struct wire_register *request = &step->request;

    if (care_moves(packer, step))
        return (struct care_why){.left = WIRE_NOT_LEFT};
    if (packer->world.conf.move == CONF_MOVE_NEVER)
        return (struct care_why){.left = WIRE_LEFT_NEVER};
    if (request->pin == WIRE_PIN_NONE || (request->pin == WIRE_PIN_DEVICE && device_is_known(step)))
        return bound_before(step);
    return care_pin(request->pin, request->pin_by);
}

/* Says why berth keeps off this new step, if it does. */
static struct care_why why_left(const struct packer *packer, const struct step *step)
{
    struct care_why stays;

    if (step->request.options.mode == WIRE_MODE_OFF)
        return (struct care_why){.left = step->refused[0] ? WIRE_LEFT_REFUSED : WIRE_LEFT_OFF};
    if (step->request.bound_by_hand)
        return (struct care_why){.left = WIRE_LEFT_BOUND};
    if (step->released)
        return (struct care_why){.left = WIRE_LEFT_RELEASED};
    stays = care_stays(packer, step);
    return stays.left ? stays : (struct care_why){.left = stand_unfit(packer, &step->body)};
}

/* Has the step observed as if its user had asked for that. */
static void watch_for_trial(const struct packer *packer, struct step *step)
{
    step->enacted.kept = false;
    step_observe(step);
    snprintf(step->enacted.reason, sizeof(step->enacted.reason),
             "control: left where Slurm put it, as %g %% are, to measure what berth gains",
             packer->world.conf.control);
}

/* Decides which state a new step takes on, and why: placed, observed, or left alone. */
static void care_begin(const struct packer *packer, struct step *step)
{
    struct care_why why = why_left(packer, step);

    step->enacted.verified = packer->world.enforce->way->touches; /* where Slurm put it */
    step->enacted.kept = wire_left_is_pinned(why.left) && kept_can(packer, step);
    if (why.left && !step->enacted.kept) {
        step_leave(packer, step, why.left, why.by);
        step->enacted.unread = why.left == WIRE_LEFT_STARTS && step->request.pin == WIRE_PIN_STARTS;
    } else if (step->request.options.mode == WIRE_MODE_OBSERVE) {
        step_go(step, STEP_OBSERVED);
        snprintf(step->enacted.reason, sizeof(step->enacted.reason),
                 "observed only, nothing was moved");
    } else if (trial_takes(packer, step)) {
        watch_for_trial(packer, step);
    } else {
        step_go(step, STEP_PLACED);
    }
}

/* Takes over a step that a berthd before this one had. */
static void care_adopt(const struct packer *packer, struct step *step)
{
    step->enacted.verified = packer->world.enforce->way->touches;
}

/* Writes the reason as people are told it. */
static void say_left(struct step *step, enum wire_left left, const char *by)
{
    char text[sizeof(step->enacted.reason) - 16];

    snprintf(step->enacted.reason, sizeof(step->enacted.reason), "%s: %s",
             left == WIRE_LEFT_PUT_BACK ? "put back" : "left alone",
             wire_left_text(left, by, text, sizeof(text)));
}

int step_leave(const struct packer *packer, struct step *step, enum wire_left left, const char *by)
{
    bool moved = step_movable(step), back = left == WIRE_LEFT_PUT_BACK;

    if (step_go(step, back ? STEP_FAILED : STEP_LEFT) < 0)
        return -1;
    step->enacted.away = moved;
    step->enacted.unread = false;
    step->enacted.left_for = left;
    step->enacted.verified = step->enacted.verified && !step->enacted.away;
    say_left(step, left, by);
    size_all(packer, step,
             back ? "put back: all that Slurm gave" : "left alone: all that Slurm gave");
    return 0;
}

void care_disown(const struct packer *packer, struct step *step)
{
    step_leave(packer, step, WIRE_LEFT_NAME, NULL);
    step->enacted.away = false;
}

bool care_leave(const struct packer *packer, struct step *step, enum wire_left left, const char *by)
{
    return !step->enacted.away && step_leave(packer, step, left, by) == 0;
}

bool care_leave_bound(const struct packer *packer, struct step *step, pid_t tid,
                      const struct cpus *to)
{
    char text[CPUS_TEXT_MAX] = "?", by[128];

    cpus_format(to, text, sizeof(text));
    snprintf(by, sizeof(by), "%d is bound to %.60s", (int)tid, text);
    return care_leave(packer, step, WIRE_LEFT_THREAD, by);
}

/* ---- the stage ---- */

const struct stage care_stage = {.name = "care", .begin = care_begin, .adopt = care_adopt};
