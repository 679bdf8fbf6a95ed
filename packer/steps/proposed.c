/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proposed - see proposed.h */
#include "packer/steps/proposed.h"

#include <math.h>

#include "packer/base/clock.h"

uint64_t proposed_khz(const struct step *step)
{
    const struct step_proposed *proposed = &step->proposed;

    return proposed->khz && clock_s() < proposed->khz_until_s ? proposed->khz : 0;
}

enum wire_prefetch proposed_prefetch(const struct step *step)
{
    const struct step_proposed *proposed = &step->proposed;
    bool holds = proposed->prefetch != WIRE_PREFETCH_NONE && clock_s() < proposed->prefetch_until_s;

    return holds ? proposed->prefetch : WIRE_PREFETCH_NONE;
}

/* What has ended and was undone wants no other turn. */
static double sooner(double in_s, bool holds, double until_s)
{
    return holds ? clock_sooner(in_s, fmax(0, until_s - clock_s())) : in_s;
}

double proposed_due(const struct packer *packer)
{
    const struct step *step;
    double in_s = -1;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        in_s = sooner(in_s, proposed_khz(step) > 0, step->proposed.khz_until_s);
        in_s = sooner(in_s, proposed_prefetch(step) != WIRE_PREFETCH_NONE,
                      step->proposed.prefetch_until_s);
    }
    return in_s;
}
