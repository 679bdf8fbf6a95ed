/* SPDX-License-Identifier: GPL-2.0-or-later */
/* price - see price.h */
#include "packer/place/price.h"

#include <math.h>

#include "packer/base/clock.h"
#include "packer/machine/topo.h"
#include "packer/observe/classify.h"
#include "packer/steps/step_counts.h"

/* Of its accesses a stream misses at least so many: more of a cache is of no use to it. */
#define STREAM_MISSES 0.9

static bool is_stream(const struct packer *packer, const struct step *step)
{
    double misses = classify_rate(packer, step), accesses = step->profile.accesses;

    if (step_is_shell(step) || !(misses >= packer->world.conf.devil_miss_pmi))
        return false;
    if (isnan(accesses) && !step_counts_rate(step, RATE_ACCESS_PMI, &accesses, NULL))
        return true;
    return misses >= STREAM_MISSES * accesses;
}

/* Are several cores of one cache at streams? */
static bool streams_meet(const struct packer *packer)
{
    const struct topo *topo = packer->world.topo;
    struct cpus cores, caches;
    const struct step *step;

    cpus_zero(&caches);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!is_stream(packer, step))
            continue;
        topo_cores_of(topo, &step->place.cpus, &cores);
        cpus_foreach(core, &cores)
        {
            if (cpus_has(&caches, topo->core[core].llc))
                return true;
            cpus_add(&caches, topo->core[core].llc);
        }
    }
    return false;
}

double price_null(const struct packer *packer)
{
    const struct topo *topo = packer->world.topo;

    if (topo->split || (topo_sharing(topo) > 1 && streams_meet(packer)))
        return 0;
    return null_test_against(&packer->steps->null_test);
}

double price_core_s(const struct step *step, enum wire_policy policy, double horizon_s, double null)
{
    double doubt = PRICE_DOUBT + PRICE_NULL * null;

    if (policy != WIRE_POLICY_CONTEND)
        return PRICE_COLD_S;
    return PRICE_COLD_S + doubt * horizon_s * exp2(step_moved_lately(step, clock_s()));
}
