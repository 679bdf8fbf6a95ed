/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demand - see demand.h */
#include "packer/size/demand.h"

#include <math.h>
#include <string.h>

#define SPREAD_MAX 0.05 /* runs that are further apart say nothing about what is equal */

/* What the runs' spread does not tell from the best is as good as the best: NuCore would take a
 * core for any millionth of bandwidth. */
static void flatten(double *local, const struct machine_figure *figure, size_t cores)
{
    double best = 0;

    for (size_t c = 1; c <= cores; c++)
        best = fmax(best, local[c]);
    for (size_t c = 1; c <= cores; c++) {
        double spread = isnan(figure[c].spread) ? 0 : fmin(figure[c].spread, SPREAD_MAX);

        if (local[c] * (1 + spread) >= best)
            local[c] = best;
    }
}

/* Without a stored curve: as many times one core's bandwidth, as far as the memory goes. */
static int derive_local(const struct packer *packer, double core_gbps, size_t node, double *local,
                        size_t cores, struct berth_error *err)
{
    const struct machine_node *of = &packer->machine->node[node];

    for (size_t c = 0; c <= cores; c++) {
        local[c] = machine_profile_local(packer->machine, node, c);
        if (isnan(local[c]))
            return berth_error_set(
                err, "the machine profile does not know the local bandwidth of node %u",
                of->os_index);
    }
    flatten(local, of->local, cores < of->cores ? cores : of->cores);
    for (size_t c = of->cores + 1; c <= cores; c++)
        local[c] = local[of->cores];
    for (size_t c = 0; c <= cores; c++)
        local[c] = fmin(local[c], (double)c * core_gbps);
    return 0;
}

int size_demand_fill(const struct packer *packer, const struct step *step,
                     const struct size_traffic *traffic, size_t node, double *local, size_t cores,
                     struct berth_error *err)
{
    const struct profile_demand *stored = traffic->stored;

    (void)step;
    if (!stored || !stored->cores)
        return derive_local(packer, traffic_local(traffic, node), node, local, cores, err);
    if (stored->cores < cores)
        return berth_error_set(err, "its stored curve ends at %zu cores of a node, it has %zu",
                               stored->cores, cores);
    memcpy(local, stored->curve, (cores + 1) * sizeof(*local));
    return 0;
}
