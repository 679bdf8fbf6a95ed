/* SPDX-License-Identifier: GPL-2.0-or-later */
/* care - see care.h */
#include "packer/enact/care.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "packer/enact/kept.h"
#include "packer/enact/trial.h"
#include "packer/size/size.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/stand.h"
#include "enum_table.h"

/* What says that a step has to stay, in words; "%s" is the variable, function or program. */
static const char *const TABLE(pin_text, WIRE_PINS) = {
    ROW(WIRE_PIN_NONE) = NULL,
    ROW(WIRE_PIN_ENVIRONMENT) = "its threads bind themselves (%s is set)",
    ROW(WIRE_PIN_CALLS) = "it may bind its threads, or remember its CPUs (%s)",
    ROW(WIRE_PIN_STARTS) = "what it starts is not known (%s)",
    ROW(WIRE_PIN_MEMORY) = "its memory is bound (%s)",
    ROW(WIRE_PIN_DEVICE) = "it has a device (%s)",
    ROW(WIRE_PIN_UNREAD) = "what it calls is not known",
};
TABLE_COMPLETE(pin_text);

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

const char *care_pin(enum wire_pin pin, const char *by, char why[CARE_WHY_MAX])
{
    if (pin == WIRE_PIN_NONE)
        return NULL;
    snprintf(why, CARE_WHY_MAX, pin_text[pin], by);
    return why;
}

/* Returns which earlier run speaks against moving the program, or NULL. */
static const char *bound_before(const struct step *step, char why[CARE_WHY_MAX])
{
    time_t at = step->profile.bound_at;
    char day[16] = "?";
    struct tm tm;

    if (at == 0)
        return NULL;
    if (localtime_r(&at, &tm))
        strftime(day, sizeof(day), "%Y-%m-%d", &tm);
    snprintf(why, CARE_WHY_MAX, "it bound its threads in a run of %s", day);
    return why;
}

bool care_moves(const struct packer *packer, const struct step *step)
{
    return step->request.options.mode == WIRE_MODE_OBSERVE ||
           packer->world.conf.move == CONF_MOVE_ALL || asked_by_name(&step->request);
}

const char *care_stays(const struct packer *packer, const struct step *step, char why[CARE_WHY_MAX])
{
    const struct wire_register *request = &step->request;

    if (care_moves(packer, step))
        return NULL;
    if (packer->world.conf.move == CONF_MOVE_NEVER)
        return "the site moves nobody (move = never)";
    if (request->pin == WIRE_PIN_NONE || (request->pin == WIRE_PIN_DEVICE && device_is_known(step)))
        return bound_before(step, why);
    return care_pin(request->pin, request->pin_by, why);
}

/* Returns why berth keeps off this step, or NULL; `left` is for what. */
static const char *reason_to_leave(const struct packer *packer, const struct step *step,
                                   char why[CARE_WHY_MAX], enum wire_left *left)
{
    const char *stays = care_stays(packer, step, why);
    bool off = step->request.options.mode == WIRE_MODE_OFF;

    *left = off && !step->refused[0]              ? WIRE_LEFT_OFF
            : !off && step->request.bound_by_hand ? WIRE_LEFT_BOUND
                                                  : WIRE_LEFT_OTHER;
    if (off)
        return step->refused[0] ? "the site's berth.conf does not allow what it asked for"
                                : "did not opt in";
    if (step->request.bound_by_hand)
        return "bound by hand (--cpu-bind)";
    if (step->released)
        return "released by root (berthctl release)";
    return stays ? stays : stand_unfit(packer, &step->body);
}

/* Does a step that only asks have somebody of its job to go with? It then stands where its own
 * cores stand in the pool as it is, as they do: nobody makes room for it, and nothing is decided
 * for it. It has no other cores than by a placement of its own. */
static bool goes_along(const struct packer *packer, const struct step *step)
{
    const struct step *other;

    if (!program_asks(&step->request))
        return false;
    TAILQ_FOREACH(other, &packer->steps->live, link)
    if (other->request.id.job == step->request.id.job && step_movable(other))
        return true;
    return false;
}

/* Has the step observed as if its user had asked for that. */
static void watch_for_trial(const struct packer *packer, struct step *step)
{
    step->request.options.mode = WIRE_MODE_OBSERVE;
    step->enacted.kept = false;
    step_go(step, STEP_OBSERVED);
    snprintf(step->enacted.reason, sizeof(step->enacted.reason),
             "control: left where Slurm put it, as %g %% are, to measure what berth gains",
             packer->world.conf.control);
}

void care_begin(const struct packer *packer, struct step *step)
{
    char reason[sizeof(step->enacted.reason)], why[CARE_WHY_MAX];
    enum wire_left left;
    const char *leave = reason_to_leave(packer, step, why, &left);

    step->enacted.verified = packer->world.enforce->way->touches; /* where Slurm put it */
    step->enacted.kept = leave == why && kept_can(packer, step);
    if (leave && !step->enacted.kept) {
        snprintf(reason, sizeof(reason), "left alone: %s", leave);
        step_leave(packer, step, STEP_LEFT, reason);
        step->enacted.left_for = left;
        step->enacted.unread = leave == why && step->request.pin == WIRE_PIN_STARTS;
    } else if (goes_along(packer, step)) {
        step_go(step, STEP_PLACED);
        snprintf(step->enacted.reason, sizeof(step->enacted.reason),
                 "only asks: it stands where its job stands");
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

void care_adopt(const struct packer *packer, struct step *step)
{
    step->enacted.verified = packer->world.enforce->way->touches;
}

int step_leave(const struct packer *packer, struct step *step, enum step_state state,
               const char *reason)
{
    bool moved = step_movable(step);
    char why[sizeof(step->size.reason)];

    if (step_go(step, state) < 0)
        return -1;
    step->enacted.away = moved;
    step->enacted.unread = false;
    step->enacted.left_for = state == STEP_LEFT ? WIRE_LEFT_OTHER : WIRE_NOT_LEFT;
    step->enacted.verified = step->enacted.verified && !step->enacted.away;
    snprintf(step->enacted.reason, sizeof(step->enacted.reason), "%s", reason);
    snprintf(why, sizeof(why), "%.*s: all that Slurm gave", (int)strcspn(reason, ":"), reason);
    size_all(packer, step, why);
    return 0;
}

void care_disown(const struct packer *packer, struct step *step)
{
    step_leave(packer, step, STEP_LEFT, "forgotten: another step runs under its name");
    step->enacted.away = false;
}

bool care_leave(const struct packer *packer, struct step *step, const char *why)
{
    char reason[sizeof(step->enacted.reason)];

    snprintf(reason, sizeof(reason), "left alone: %.300s", why);
    return !step->enacted.away && step_leave(packer, step, STEP_LEFT, reason) == 0;
}

bool care_leave_bound(const struct packer *packer, struct step *step, pid_t tid,
                      const struct cpus *to)
{
    char text[CPUS_TEXT_MAX] = "?", why[128];

    cpus_format(to, text, sizeof(text));
    snprintf(why, sizeof(why), "its thread %d is bound to %.60s", (int)tid, text);
    return care_leave(packer, step, why);
}

/* ---- the stage ---- */

static void decide(const struct packer *packer, struct step *step)
{
    care_begin(packer, step);
}

static void adopt(const struct packer *packer, struct step *step)
{
    care_adopt(packer, step);
}

const struct stage care_stage = {.name = "care", .begin = decide, .adopt = adopt};
