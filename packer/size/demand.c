/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demand - see demand.h */
#include "packer/size/demand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/dramon.h"
#include "models/numa/roof.h"

/* The most that cores of the node were measured to read; NAN: it is not known. */
static double reachable(const struct packer *packer, size_t node)
{
    const struct machine_node *of = &packer->world.machine->node[node];
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
        most = fmax(most, machine_profile_local(packer->world.machine, node, c));
        local[c] = fmin(local[c], most);
    }
}

/* Without a stored curve: as many times one core's bandwidth, below the roof. */
static int derive_local(const struct packer *packer, double core_gbps, size_t node, double *local,
                        size_t cores, struct berth_error *err)
{
    struct roof roof = roof_of(reachable(packer, node));

    for (size_t c = 1; c <= cores; c++)
        if (isnan(machine_profile_local(packer->world.machine, node, c)))
            return berth_error_set(
                err, "the machine profile does not know the local bandwidth of node %u",
                packer->world.machine->node[node].os_index);
    roof_curve(&roof, core_gbps, cores, local);
    limit(packer, node, local, cores);
    return 0;
}

/* ---- DraMon ---- */

/* Returns what is known of what its requests find in the row buffers, the more trusted first: what
 * somebody has told, and what was counted; NULL: nothing is. */
static const struct profile_dram *dram_of(const struct size_traffic *traffic)
{
    if (traffic->stored && profile_dram_known(&traffic->stored->dram))
        return &traffic->stored->dram;
    return profile_dram_known(&traffic->dram) ? &traffic->dram : NULL;
}

/* Not every controller counts how often the rank changes: with one there is none to change to. */
static double rank_turns(const struct profile_dram *dram, const struct machine_dram *memory)
{
    return isnan(dram->rtr) && memory->ranks == 1 ? 0 : dram->rtr;
}

/* Returns the requests per second and channel of one core: as it was counted in the present phase,
 * else as the store has it, else by its profile; NAN where nothing says it. */
static double issue_rate(const struct size_traffic *traffic, const struct profile_dram *dram,
                         size_t node, const struct dramon_hardware *hw)
{
    double counted = traffic_local(traffic, node) * 1e9 / (hw->channels * hw->request_bytes);
    double stored = dram->issue_rate_single;

    return isnan(stored) || traffic->measured ? counted : stored;
}

/* Makes DraMon's question of what is known. Returns whether all of it is. */
static bool ask_dramon(const struct packer *packer, const struct size_traffic *traffic, size_t node,
                       struct dramon_hardware *hw, struct dramon_software *sw)
{
    const struct machine_dram *memory = &packer->world.machine->dram;
    const struct profile_dram *dram = dram_of(traffic);
    struct berth_error unknown;
    double turns = dram ? rank_turns(dram, memory) : NAN;

    if (isnan(turns) || isnan(dram->wtr) ||
        machine_dram_hardware(memory, dram->wtr, turns, hw, &unknown) < 0)
        return false;
    *sw = (struct dramon_software){
        .issue_rate_single = issue_rate(traffic, dram, node, hw),
        .hit = dram->hit,
        .miss = dram->miss,
        .conflict = dram->conflict,
        .brd = dramon_brd_runtime,
        .brds = DRAMON_BRDS_RUNTIME,
        .read_ratio = dram->read_ratio,
        .wtr = dram->wtr,
        .rtr = turns,
        .ranks = isnan(dram->ranks) ? memory->ranks : dram->ranks,
        .same_row = NAN,
        .same_bank = NAN,
        .other_channel = NAN,
    };
    return !isnan(sw->issue_rate_single) && !isnan(sw->ranks);
}

/* Fills local[] as DraMon predicts it from what the program's requests find in the row buffers
 * (Wang 2015, eq. 4.5), but no more than the machine let so many cores read. Returns whether it
 * could. */
static bool fill_by_dramon(const struct packer *packer, const struct size_traffic *traffic,
                           size_t node, double *local, size_t cores)
{
    struct dramon_point *point = calloc(cores + 1, sizeof(*point));
    struct dramon_hardware hw;
    struct dramon_software sw;
    bool told = point && ask_dramon(packer, traffic, node, &hw, &sw) &&
                dramon_curve(&hw, &sw, cores, point) == 0;

    if (told)
        local[0] = 0;
    for (size_t c = 1; told && c <= cores; c++)
        local[c] = point[c - 1].gbps;
    if (told && !isnan(reachable(packer, node)))
        limit(packer, node, local, cores);
    free(point);
    return told;
}

int size_demand_fill(const struct packer *packer, const struct step *step,
                     const struct size_traffic *traffic, size_t node, double *local, size_t cores,
                     struct berth_error *err)
{
    const struct profile_demand *stored = traffic->stored;

    (void)step;
    if (!stored || !stored->cores)
        return fill_by_dramon(packer, traffic, node, local, cores)
                   ? 0
                   : derive_local(packer, traffic_local(traffic, node), node, local, cores, err);
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
    struct dramon_hardware hw;
    struct dramon_software sw;

    if ((traffic->stored && traffic->stored->cores) || ask_dramon(packer, traffic, node, &hw, &sw))
        return 0;
    return roof_idle(&roof, traffic_local(traffic, node));
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
