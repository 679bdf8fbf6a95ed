/* SPDX-License-Identifier: GPL-2.0-or-later */
/* price - see price.h */
#include "packer/place/price.h"

#include <math.h>

#include "packer/base/clock.h"
#include "packer/machine/topo.h"

double price_null(const struct packer *packer)
{
    const struct topo *topo = packer->world.topo;

    return topo_sharing(topo) > 1 || topo->split ? 0 : null_test_against(&packer->steps->null_test);
}

double price_core_s(const struct step *step, enum wire_policy policy, double horizon_s, double null)
{
    double doubt = PRICE_DOUBT + PRICE_NULL * null;

    if (policy != WIRE_POLICY_CONTEND)
        return PRICE_COLD_S;
    return PRICE_COLD_S + doubt * horizon_s * exp2(step_moved_lately(step, clock_s()));
}
