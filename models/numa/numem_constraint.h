/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numem_constraint - what a program has of the traffic of a machine, and which constraint keeps a
 * node from more bandwidth (the last column of Wang 2015, Tables 5.3 and 5.5). */
#ifndef BERTH_MODELS_NUMA_NUMEM_CONSTRAINT_H
#define BERTH_MODELS_NUMA_NUMEM_CONSTRAINT_H

#include "models/numa/flows.h"

/* Fills in the program's bandwidth, GB/s, when the traffic is that (flows_solve); and where the
 * caller gave arrays for them, its local traffic and its traffic between nodes, and the constraint
 * of each node, on which it may have most[node] cores (NULL: all). A memory that delivers all it
 * can is the limit of its node, and of the nodes that read from it and could have more cores; then
 * come links; then a local demand that more cores do not raise. */
void constraint_fill_usage(const struct flows *flows, const unsigned *allocation,
                           const double *local, const double *amount, size_t program,
                           const unsigned *most, struct numem_usage *usage);

#endif
