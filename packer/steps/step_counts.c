/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_counts - see step_counts.h */
#include "packer/steps/step_counts.h"

#include <math.h>

bool step_counts_rate(const struct step *step, enum rate_id id, double *mean, double *error)
{
    const struct rate *rate;
    double scaling;

    if (!step->counts)
        return false;
    rate = &step->counts->phase.rate[id];
    *mean = rate_mean(rate);
    scaling = step->counts->scaling[id];
    *error = hypot(rate_error(rate), 1.96 * scaling * *mean);
    return !isnan(*mean);
}

bool step_counts_solo(const struct step *step, enum solo_rate id, double *mean, double *error)
{
    const struct rate *rate;

    if (!step->counts)
        return false;
    rate = &step->counts->solo[id];
    *mean = rate_mean(rate);
    *error = rate_error(rate) / 1.96;
    return !isnan(*mean);
}
