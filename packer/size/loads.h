/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loads - what the steps that are not sized ask of the node's memories. */
#ifndef BERTH_SIZE_LOADS_H
#define BERTH_SIZE_LOADS_H

#include "packer/steps/packer.h"

/* Adds to gbps[NUMA nodes of the topology] what a live step asks of the memories of its own nodes,
 * as far as its profile or its counters know it: what its cores ask for, of those that it was seen
 * to use. Returns whether it is known. */
bool size_loads_add(const struct packer *packer, const struct step *step, double *gbps);

#endif
