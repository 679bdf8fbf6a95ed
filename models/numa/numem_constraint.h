/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numem_constraint - which constraint keeps a node from more bandwidth (the last column of Wang
 * 2015, Tables 5.3 and 5.5). */
#ifndef BERTH_MODELS_NUMA_NUMEM_CONSTRAINT_H
#define BERTH_MODELS_NUMA_NUMEM_CONSTRAINT_H

#include "models/numa/flows.h"

/* The constraint of each node, for that program, when the traffic is that (flows_solve). A memory
 * that delivers all it can is the limit of its node, and of the nodes that read from it and could
 * have more cores; then come links; then a local demand that more cores do not raise. */
void constraint_find(const struct flows *flows, const unsigned *allocation, const double *local,
                     const double *amount, size_t program, enum numem_constraint *constraint);

#endif
