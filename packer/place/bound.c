/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bound - see bound.h */
#include "packer/place/bound.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/conf/admit.h"
#include "packer/place/reason.h"

/* Tells what the decision about the step's place has found out. */
static void judge_place(const struct step *step, struct bound *bound)
{
    char percent[REASON_PERCENT_MAX];

    bound->predicted = step->place.predicted;
    bound->met = step->place.met;
    bound->known = bound->met || !isnan(bound->predicted);
    if (bound->met && isnan(bound->predicted))
        snprintf(bound->reason, sizeof(bound->reason), "nobody else uses its memory node");
    else if (!bound->known)
        snprintf(bound->reason, sizeof(bound->reason), "too little is known to predict slowdowns");
    else
        snprintf(bound->reason, sizeof(bound->reason), "predicted %s %% slower than alone%s",
                 reason_percent(bound->predicted, percent),
                 bound->met ? "" : ", and no better place was found");
}

void bound_of(const struct packer *packer, const struct step *step, struct bound *bound)
{
    *bound = (struct bound){.asked = !isnan(step->place.max_slowdown) || step->slowdown_refused,
                            .limit = step->place.max_slowdown,
                            .predicted = NAN};
    if (!bound->asked)
        return;
    if (step->slowdown_refused) {
        bound->known = true;
        snprintf(bound->reason, sizeof(bound->reason), "%s",
                 admit_refusal(&packer->world.conf, &step->request, &step->identity.is,
                               step->identity.slowdown_waits_pct >= 0, "max-slowdown"));
    } else if (step->ended_at || (step->state != STEP_PLACED && step->state != STEP_OBSERVED)) {
        snprintf(bound->reason, sizeof(bound->reason), "berth does not place it");
    } else if (step->state == STEP_OBSERVED) {
        snprintf(bound->reason, sizeof(bound->reason), "only observed");
    } else {
        judge_place(step, bound);
    }
}

void bound_note(const struct packer *packer, const struct step *step, char *text, size_t size)
{
    struct bound bound;
    char limit[40];

    text[0] = '\0';
    bound_of(packer, step, &bound);
    if (!bound.asked)
        return;
    if (isnan(bound.limit))
        snprintf(limit, sizeof(limit), "max-slowdown");
    else
        snprintf(limit, sizeof(limit), "max-slowdown=%g", 100 * bound.limit);
    snprintf(text, size, "; %s %s: %s", limit,
             bound.met                ? "is met"
             : isnan(bound.predicted) ? "has no effect"
                                      : "is not met",
             bound.reason);
}
