/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reason - see reason.h */
#include "packer/place/reason.h"

#include <stdio.h>

/* What the user asked for and this version does otherwise. */
static const char *note_of(const struct step *step)
{
    enum wire_policy asked = step->place.policy_asked;

    return asked == WIRE_POLICY_DI || asked == WIRE_POLICY_DIO_POWER
               ? ""
               : "; the policy asked for is not in this version";
}

/* How DIO-POWER decided. */
static const char *choice_of(const struct step_edp *edp)
{
    if (edp->choice == PLACE_CLUSTERED)
        return edp->source ? "clustered on few caches, which costs less energy times time"
                           : "clustered on as few caches as keep devils apart";
    return edp->source ? "spread, for to cluster costs more energy times time"
                       : "spread, for a step is to be isolated";
}

void place_reason(const struct step *step, char *text, size_t size)
{
    const struct step_place *place = &step->place;

    if (place->adopted)
        snprintf(text, size, "adopted after a restart of berthd, where it was");
    else if (place->of == 0)
        snprintf(text, size, "not placed");
    else if (!place->rank)
        snprintf(text, size, "goes where the cores of its job go%s", note_of(step));
    else if (place->edp.choice != PLACE_NO_CHOICE)
        snprintf(text, size, "DIO-POWER: number %zu of %zu by miss rate, %s%s", place->rank,
                 place->of, choice_of(&place->edp), note_of(step));
    else
        snprintf(text, size,
                 "DI: number %zu of %zu by miss rate, spread over packages, caches, cores%s",
                 place->rank, place->of, note_of(step));
}
