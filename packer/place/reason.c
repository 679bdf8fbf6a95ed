/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reason - see reason.h */
#include "packer/place/reason.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/text.h"

/* How DIO-POWER decided. */
static const char *choice_of(const struct step_edp *edp)
{
    if (edp->choice == PLACE_CLUSTERED)
        return edp->source ? "clustered on few caches, which costs less energy times time"
                           : "clustered on as few caches as keep apart those that disturb others";
    return edp->source ? "spread, for to cluster costs more energy times time"
                       : "spread, for a step is to be isolated";
}

/* Does the policy place by rule, in the order of the miss rates? */
static bool by_rule(const struct step_place *place)
{
    return place->policy == WIRE_POLICY_DI || place->edp.choice != PLACE_NO_CHOICE;
}

/* Says how a policy by rule went about it. */
static void add_rule(const struct step_place *place, bool counts, char *text, size_t size)
{
    bool power = place->edp.choice != PLACE_NO_CHOICE;

    if (!by_rule(place))
        return;
    text_append(text, size, "%s: ", power ? "DIO-POWER" : "DI");
    if (counts)
        text_append(text, size, "number %zu of %zu ", place->rank, place->of);
    text_append(text, size, "by cache misses, %s",
                power ? choice_of(&place->edp)
                      : "which are spread over packages, caches and cores");
}

/* Says whether a step is where its devices want it. */
static void add_near(const struct step *step, char *text, size_t size)
{
    text_append(text, size, "%s",
                cpus_subset(&step->place.cpus, &step->near.cpus)
                    ? "near its devices, where no policy moves it"
                    : "far from its devices, near which there is no room");
}

/* Says what is expected of the place, and what that rests on. */
static void add_prediction(const struct step *step, char *text, size_t size)
{
    const struct step_knowledge *knowledge = &step->knowledge;
    char percent[REASON_PERCENT_MAX];

    if (isnan(step->place.predicted) || knowledge->rung == RUNG_NOTHING)
        return;
    text_append(text, size, "%spredicted %s %% slower than alone", text[0] ? "; " : "",
                reason_percent(step->place.predicted, percent));
    text_append(text, size, " (known by %s",
                knowledge->model == RUNG_AVERAGE ? "the average of the node's programs"
                                                 : step_rung_name[knowledge->model]);
    if (knowledge->windows > 0)
        text_append(text, size, " and %.0f window%s beside others", knowledge->windows,
                    knowledge->windows < 1.5 ? "" : "s");
    text_append(text, size, ", confidence %.2f", step->place.confidence);
    text_append(text, size, ")");
}

const char *reason_percent(double fraction, char text[REASON_PERCENT_MAX])
{
    snprintf(text, REASON_PERCENT_MAX, "%.*f", fraction < 0.0995 ? 1 : 0, 100 * fraction);
    return text;
}

void reason_another(const struct step *step, char *text, size_t size)
{
    const char *asked = wire_policy_name[step->place.policy_asked];

    text[0] = '\0';
    if (step->place.policy_asked == step->place.policy)
        return;
    if (step->knowledge.rung == RUNG_NOTHING)
        text_append(text, size, "too little is known here for %s", asked);
    else
        text_append(text, size, "%s gives way where steps ask for another policy", asked);
}

void place_reason(const struct step *step, bool counts, char *text, size_t size)
{
    const struct step_place *place = &step->place;
    char another[128];

    text[0] = '\0';
    if (place->adopted)
        text_append(text, size, "adopted after a restart of berthd, where it was%s%s",
                    place->why[0] ? ": " : "", place->why);
    else if (place->of == 0)
        text_append(text, size, "not placed");
    else if (!place->rank)
        text_append(text, size, "goes where the cores of its job go");
    else if (step->near.holds)
        add_near(step, text, size);
    else
        add_rule(place, counts, text, size);
    if (!place->adopted && place->rank)
        add_prediction(step, text, size);
    if (!place->adopted && place->of > 0) {
        reason_another(step, another, sizeof(another));
        text_append(text, size, "%s%s", text[0] && another[0] ? "; " : "", another);
    }
}

void place_note(const struct step *step, bool counts, char *text, size_t size)
{
    const struct step_place *place = &step->place;
    char reason[256];

    place_reason(step, counts, reason, sizeof(reason));
    if (place->adopted || !place->rank || by_rule(place))
        snprintf(text, size, "%s", reason);
    else
        snprintf(text, size, "placed by %s%s%s", wire_policy_name[place->policy],
                 reason[0] ? ": " : "", reason);
}

/* ---- what is kept ---- */

void place_why(const struct step *step, char *text, size_t size)
{
    const struct step_place *place = &step->place;
    char another[128] = "";

    text[0] = '\0';
    if (place->adopted) {
        snprintf(text, size, "%s", place->why);
        return;
    }
    if (place->of == 0 || !step_movable(step))
        return;
    if (!place->rank)
        text_append(text, size, "goes where the cores of its job go");
    else if (step->near.holds)
        add_near(step, text, size);
    else if (by_rule(place))
        add_rule(place, false, text, size);
    else
        text_append(text, size, "%s: of all places this one costs the node's steps least speed",
                    wire_policy_name[place->policy]);
    reason_another(step, another, sizeof(another));
    text_append(text, size, "%s%s", another[0] ? "; " : "", another);
}

bool place_note_why(struct step *step)
{
    char why[sizeof(step->place.why)];

    if (!step->place.decided)
        return false;
    step->place.decided = false;
    place_why(step, why, sizeof(why));
    if (strcmp(why, step->place.why) == 0)
        return false;
    snprintf(step->place.why, sizeof(step->place.why), "%s", why);
    return true;
}
