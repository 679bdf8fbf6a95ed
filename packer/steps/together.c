/* SPDX-License-Identifier: GPL-2.0-or-later */
/* together - see together.h */
#include "packer/steps/together.h"

#include <math.h>

/* What the clock of the instants is ahead of CLOCK_MONOTONIC, s. */
static double ahead_s(const struct packer *packer)
{
    return packer->world.conf.together == CONF_ON
               ? (double)clock_ns(CLOCK_REALTIME) / 1e9 - clock_s()
               : 0;
}

double together_next(const struct packer *packer, double at_s, double every_s)
{
    double ahead = ahead_s(packer);

    return (floor((at_s + ahead) / every_s + 0.5) + 1) * every_s - ahead;
}
