/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size - how many of its cores a step uses, and which: NuCore over what its program asks of memory
 * and what the machine's memory can do.
 *
 * A sized step still holds all cores that Slurm gave it: nobody else gets them but by the pool's
 * permutation, which puts what others use beside what it uses. */
#ifndef BERTH_SIZE_SIZE_H
#define BERTH_SIZE_SIZE_H

#include "packer/steps/packer.h"

/* Decide how many cores the step uses: fills step->size and its tasks' `use`. Only a step that
 * asked for it (size), and that is placed or observed, gets fewer than it has: never fewer than one
 * for each task, within cores=MIN-MAX where it has so many; every task as many as the others where
 * the bounds allow. */
void size_step(const struct packer *packer, struct step *step);

/* It uses all it has: berth is done with it, or it was not to be sized. `reason` is for people. */
void size_all(const struct packer *packer, struct step *step, const char *reason);

/* How many cores of the topology's i-th NUMA node Slurm gave the step, and how many it uses. */
void size_on_node(const struct packer *packer, const struct step *step, size_t i, size_t *cores,
                  size_t *used);

#endif
