/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loads - see loads.h */
#include "packer/size/loads.h"

#include <math.h>

#include "packer/size/cores.h"
#include "packer/steps/step_counts.h"

/* The part of its CPUs that the step was seen to use; 1 where nobody has looked yet. */
static double busy_part(const struct step *step)
{
    double mean, error;
    struct cpus cpus;

    size_cores_union(step, true, &cpus);
    if (!step_counts_rate(step, RATE_CPU, &mean, &error) || cpus_empty(&cpus))
        return 1;
    return fmin(1, mean / (double)cpus_count(&cpus));
}

/* What one of its cores asks for: alone, as its profile says, else as it is counted now. */
static double core_gbps(const struct step *step)
{
    double bytes, cpus, error;

    if (step->profile.known && !isnan(step->profile.core_gbps))
        return step->profile.core_gbps;
    if (!step_counts_rate(step, RATE_BYTES, &bytes, &error) ||
        !step_counts_rate(step, RATE_CPU, &cpus, &error) || !(cpus > 0))
        return NAN;
    return bytes / fmax(cpus, 1) / 1e9;
}

/* What so many cores of a node can have of its memory at most. */
static double most_of(const struct packer *packer, size_t node, size_t cores)
{
    for (size_t i = 0; i < packer->world.machine->nodes; i++)
        if (packer->world.machine->node[i].os_index == packer->world.topo->node[node].os_index)
            return machine_profile_local(packer->world.machine, i, cores);
    return NAN;
}

bool size_loads_add(const struct packer *packer, const struct step *step, double *gbps)
{
    double core = core_gbps(step), busy = busy_part(step);
    unsigned cores[CPUS_MAX];

    if (isnan(core) || registry_only_waits(packer->steps, step))
        return false;
    size_cores_on_nodes(packer, step, step->state != STEP_OBSERVED, cores);
    for (size_t i = 0; i < packer->world.topo->nodes; i++)
        if (cores[i] > 0)
            gbps[i] += fmin(cores[i] * busy * core, most_of(packer, i, cores[i]));
    return true;
}
