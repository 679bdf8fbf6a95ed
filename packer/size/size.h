/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size - how many of its cores a step uses, and which: NuCore over what the programs of all steps
 * that are sized ask of memory, and what the machine's memory can do.
 *
 * A sized step still holds all cores that Slurm gave it: nobody else gets them but by the pool's
 * permutation, which puts what others use beside what it uses. */
#ifndef BERTH_SIZE_SIZE_H
#define BERTH_SIZE_SIZE_H

#include "packer/steps/packer.h"

/* Decides how many cores each step of the node uses that asked for it (size) and is placed: fills
 * step->size and its tasks' `sized`. Never fewer cores than one for each task, within cores=MIN-MAX
 * where it has so many; every task as many as the others where the bounds allow.
 *
 * The newcomer (NULL: nobody has come), which may be an observed step, gets its `use` as well. A
 * running step's change is written into the journal, or not made; rearrange() then makes it true.
 * Where the answer for all together takes longer than a launch may wait, the newcomer is answered
 * beside the others as they are, and size_turn() asks again. Returns whether a running step's
 * `sized` has changed. */
bool size_node(const struct packer *packer, struct step *newcomer);

/* Is there a question that a launch could not wait for, or does a step stand elsewhere than when it
 * was asked about? */
bool size_due(const struct packer *packer);

/* Asks it, if there is one. Returns as size_node. */
bool size_turn(const struct packer *packer);

/* Why a step that is late (registry.h) is not sized. */
#define SIZE_LATE "its threads were counted before berth knew of it"

/* It uses all it has: berth is done with it, or it was not to be sized. `reason` is for people. */
void size_all(const struct packer *packer, struct step *step, const char *reason);

/* Writes why the step has its cores into text[size], for people; with `counts` also how many other
 * steps were asked about with it, which is no business of all readers. */
void size_reason(const struct step *step, bool counts, char *text, size_t size);

/* Returns how many threads of each task have a CPU of their own: of those that the tasks use, or of
 * all that Slurm gave them; >= 1. Tasks may share theirs. */
size_t size_threads(const struct step *step, bool used);

/* How many cores of the topology's i-th NUMA node Slurm gave the step, and how many it uses. */
void size_on_node(const struct packer *packer, const struct step *step, size_t i, size_t *cores,
                  size_t *used);

#endif
