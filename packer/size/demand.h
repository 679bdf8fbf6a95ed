/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demand - what so many cores of a step ask of the memory of their own node. */
#ifndef BERTH_SIZE_DEMAND_H
#define BERTH_SIZE_DEMAND_H

#include "packer/size/traffic.h"

/* Fills local[0 .. cores], GB/s, for a node of the machine profile: the curve that the store has;
 * else so many times what one core alone reads, as far as the machine lets so many cores read.
 * Returns 0, or -1 and err. */
int size_demand_fill(const struct packer *packer, const struct step *step,
                     const struct size_traffic *traffic, size_t node, double *local, size_t cores,
                     struct berth_error *err);

#endif
