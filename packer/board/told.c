/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/board/told.h"

#include <math.h>

#include "packer/bill/bill.h"
#include "packer/steps/step_counts.h"

#define LINE_BYTES 64 /* where the topology does not tell */
#define STILL_S 10.0  /* a meter that has not moved for so long tells nothing */

/* ---- traffic ---- */

static double line_bytes(const struct topo *topo)
{
    return topo->llcs && topo_cache(topo)->line_bytes ? topo_cache(topo)->line_bytes : LINE_BYTES;
}

static double of_step(const struct packer *packer, const struct step *step)
{
    const struct last_window *window = step->counts ? &step->counts->window : NULL;
    double bytes;

    if (!window || !(window->seconds > 0))
        return NAN;
    bytes = window->bytes;
    if (isnan(bytes))
        bytes = window->y[SOLO_MISSES] * line_bytes(packer->world.topo);
    return bytes / window->seconds;
}

/* Another number for other steps, and for other windows of the same. */
static uint64_t mark(const struct packer *packer)
{
    const struct step *step;
    uint64_t sum = 0;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    sum = (sum * 31 + step->serial) * 31 + (step->counts ? step->counts->windows : 0);
    return sum;
}

bool told_traffic(struct told *told, const struct packer *packer, double *bytes_s)
{
    double sum = packer->steps->nlive ? 0 : NAN;
    uint64_t now = mark(packer);
    const struct step *step;

    if (now == told->mark)
        return false;
    told->mark = now;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    sum += of_step(packer, step);
    *bytes_s = sum;
    return true;
}

/* ---- watts ---- */

/* Follows a meter: what it has drawn since it was seen to move before. */
static double follow(struct told *told, size_t i, uint64_t uj, double now_s)
{
    double since_s = now_s - told->zone[i].at_s;

    if (told->zone[i].at_s == 0 || uj < told->zone[i].uj || since_s > STILL_S) {
        told->zone[i].watts = NAN;
    } else if (uj == told->zone[i].uj) {
        return told->zone[i].watts; /* read once a second, it has not been again */
    } else {
        told->zone[i].watts = (double)(uj - told->zone[i].uj) * 1e-6 / since_s;
    }
    told->zone[i].uj = uj;
    told->zone[i].at_s = now_s;
    return told->zone[i].watts;
}

/* The section that a zone's watts are of. */
static size_t section_of(const struct board_map *map, const struct energy_zone *zone)
{
    switch (zone->domain) {
    case ENERGY_PACKAGE:
        return board_map_at(map, BOARD_PACKAGE, zone->package);
    case ENERGY_DRAM:
        return board_map_memory_of(map, zone->package);
    default:
        return map->first[BOARD_NODE];
    }
}

void told_watts(struct told *told, const struct packer *packer, const struct board_map *map,
                double now_s, double *watts)
{
    struct bill_account account;
    struct energy_zone zone;

    for (size_t i = 0; i < map->n; i++)
        watts[i] = NAN;
    for (size_t i = 0; i < TOLD_ZONES && bill_zone(packer, i, &zone, &account); i++) {
        double drawn = account.counts ? follow(told, i, account.metered_uj, now_s) : NAN;
        size_t section = zone.modelled ? BOARD_NOWHERE : section_of(map, &zone);

        if (section < map->n)
            watts[section] = drawn;
    }
}
