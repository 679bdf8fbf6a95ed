/* SPDX-License-Identifier: GPL-2.0-or-later */
/* told - what the event loop knows for the blackboard: the traffic of steps by their windows, and
 * the watts of the meters. */
#ifndef BERTH_BOARD_TOLD_H
#define BERTH_BOARD_TOLD_H

#include "packer/board/map.h"
#include "packer/steps/packer.h"

#define TOLD_ZONES ENERGY_ZONES

/* Between two turns. */
struct told {
    uint64_t mark; /* of the steps and windows that were summed up last */
    struct {
        uint64_t uj;
        double at_s;  /* when it was first seen; 0: nothing was */
        double watts; /* since the one before; NAN */
    } zone[TOLD_ZONES];
};

/* Returns bytes per second of all steps together, by their last windows: what was counted, else
 * their misses times the cache's line. NAN: of one of them nothing is known, or there is none.
 * Returns false where no window has ended, and no step come or gone, since the last time. */
bool told_traffic(struct told *told, const struct packer *packer, double *bytes_s);

/* Fills in the watts of each section by the meters that there are: [map->n], NAN not known. */
void told_watts(struct told *told, const struct packer *packer, const struct board_map *map,
                double now_s, double *watts);

#endif
