/* SPDX-License-Identifier: GPL-2.0-or-later */
/* price - see price.h */
#include "packer/place/price.h"

#include <math.h>

#include "packer/base/clock.h"

double price_core_s(const struct step *step, enum wire_policy policy, double horizon_s)
{
    if (policy != WIRE_POLICY_CONTEND)
        return PRICE_COLD_S;
    return PRICE_COLD_S + PRICE_DOUBT * horizon_s * exp2(step_moved_lately(step, clock_s()));
}
