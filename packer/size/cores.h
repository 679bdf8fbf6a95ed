/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cores - which of its cores a sized step uses, and on which NUMA nodes these stand. */
#ifndef BERTH_SIZE_CORES_H
#define BERTH_SIZE_CORES_H

#include "packer/steps/packer.h"

/* How many cores the CPUs touch. */
size_t size_cores_touched(const struct topo *topo, const struct cpus *cpus);

/* The CPUs that Slurm gave the step's tasks, or (sized) those that sizing left them. */
void size_cores_union(const struct step *step, bool sized, struct cpus *cpus);

/* Counts how many cores these are on each NUMA node of the topology, count[nodes], as they stand
 * under the pool. */
void size_cores_on_nodes(const struct packer *packer, const struct step *step, bool sized,
                         unsigned *count);

/* Lets the step use chosen[i] of its cores on node i, and as far as they are too few others, so
 * that each task has one, and all as many as the others where that takes no more than `most` cores
 * in all. Those come first that fewest other steps use, and of these those that it uses already.
 * Writes the tasks' `sized`. Empties chosen. 0, or -1 with ENOMEM. */
int size_cores_deal(const struct packer *packer, struct step *step, unsigned *chosen,
                    unsigned most);

/* Tells what has become of the CPUs that sizing took from a step, where they stand now: nobody uses
 * them (idle), or another step of its job does, which Slurm gave them as well (srun --overlap), and
 * which now has them for itself. */
void size_cores_freed(const struct packer *packer, const struct step *step, struct cpus *idle,
                      struct cpus *offered);

/* The cores of a profiling run: one of each NUMA node that the step has cores of, and one for each
 * task, of its home; count[nodes] as they stand. Returns how many. */
size_t size_cores_lone(const struct packer *packer, const struct step *step, struct cpus *only,
                       unsigned *count);

#endif
