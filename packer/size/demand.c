/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demand - see demand.h */
#include "packer/size/demand.h"

#include <math.h>
#include <string.h>

#include "models/numa/roof.h"

/* The most that cores of the node were measured to read; NAN: it is not known. */
static double reachable(const struct packer *packer, size_t node)
{
    const struct machine_node *of = &packer->machine->node[node];
    double most = NAN;

    for (size_t c = 1; c <= of->cores; c++)
        most = fmax(most, of->local[c].value);
    return most;
}

/* A noisy run is no limit: with more cores there is as much as with fewer. */
static void limit(const struct packer *packer, size_t node, double *local, size_t cores)
{
    double most = 0;

    for (size_t c = 1; c <= cores; c++) {
        most = fmax(most, machine_profile_local(packer->machine, node, c));
        local[c] = fmin(local[c], most);
    }
}

/* Without a stored curve: as many times one core's bandwidth, below the roof. */
static int derive_local(const struct packer *packer, double core_gbps, size_t node, double *local,
                        size_t cores, struct berth_error *err)
{
    struct roof roof = roof_of(reachable(packer, node));

    for (size_t c = 1; c <= cores; c++)
        if (isnan(machine_profile_local(packer->machine, node, c)))
            return berth_error_set(
                err, "the machine profile does not know the local bandwidth of node %u",
                packer->machine->node[node].os_index);
    roof_curve(&roof, core_gbps, cores, local);
    limit(packer, node, local, cores);
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

double size_demand_idle(const struct packer *packer, const struct size_traffic *traffic,
                        size_t node)
{
    struct roof roof = roof_of(reachable(packer, node));

    return traffic->stored && traffic->stored->cores ? 0 : roof_idle(&roof, traffic->core_gbps);
}

void size_demand_share(const struct packer *packer, size_t node, double idle_gbps,
                       double others_gbps, bool give_way, double *local, size_t cores)
{
    struct roof roof = roof_of(reachable(packer, node));

    for (size_t c = 1; c <= cores; c++) {
        double own = (double)c * idle_gbps,
               others = others_gbps * (give_way ? (double)c / (double)cores : 1);

        local[c] = fmin(local[c], own / (own + others) * roof_give(&roof, own + others));
    }
}

void size_demand_bend(const struct step *step, double *local, size_t cores)
{
    size_t enough = roof_enough(local, cores, wire_size_loss(&step->request.options));

    for (size_t c = 0; enough > 0 && c <= cores; c++)
        local[c] = fmin(local[c], local[enough]);
}
