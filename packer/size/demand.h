/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demand - what so many cores of a step ask of the memory of their own node. */
#ifndef BERTH_SIZE_DEMAND_H
#define BERTH_SIZE_DEMAND_H

#include "packer/size/traffic.h"

/* Fills local[0 .. cores], GB/s, for a node of the machine profile: the curve that the store has;
 * else what DraMon predicts (Wang 2015, chapter 4), where the machine profile has the figures of
 * the memory, and what the program's requests find in its row buffers is told by the store
 * (`profile demand`, `profile --dram`) or was counted (memories.h);
 * else what so many times one core have below the node's soft roof (models/numa/roof.h). It is
 * never more than the machine lets so many cores read, but for a stored curve. Returns 0, or -1 and
 * err.
 */
int size_demand_fill(const struct packer *packer, const struct step *step,
                     const struct size_traffic *traffic, size_t node, double *local, size_t cores,
                     struct berth_error *err);

/* Returns what one core of the step would read of the node's memory, GB/s, were that idle; 0 where
 * its demand is not by the roof. */
double size_demand_idle(const struct packer *packer, const struct size_traffic *traffic,
                        size_t node);

/* Says what the step has while others ask an idle memory for others_gbps, where a core of its own
 * asks for idle_gbps: shrinks local[0 .. cores]. With `give_way` they are taken to use the same
 * part of their cores as it does: else who gives up a core only gives his part to the others, and
 * nobody could give up any. */
void size_demand_share(const struct packer *packer, size_t node, double idle_gbps,
                       double others_gbps, bool give_way, double *local, size_t cores);

/* Bends local[0 .. cores], GB/s: more cores than lose the step no more than its user allows
 * (size=PCT) have no more than these. NuCore, which puts bandwidth first, then finds the fewest
 * that are enough. */
void size_demand_bend(const struct step *step, double *local, size_t cores);

#endif
