/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bindings - what a program has bound its threads to, and what becomes of it when berth moves them.
 *
 * A thread whose affinity is a proper part of what its task has was bound by its program. It keeps
 * that: where its step stands elsewhere it has the image of its part, at home the part itself. What
 * was found is in the journal before the first thread is touched.
 *
 * A step that stands elsewhere may be `wide` (enforce.h): its cpuset has its home, too, so that to
 * bind a thread to any CPU that Slurm gave does not fail. Who does that stands on cores of others;
 * so their affinities are looked at once a window:
 *   - one of all CPUs that the step can have binds nobody: the thread has what it had, again, but
 * of a step that does so all the time;
 *   - any other that reaches outside of where the step stands is respected: the step goes home, and
 *     stays there. */
#ifndef BERTH_ENACT_BINDINGS_H
#define BERTH_ENACT_BINDINGS_H

#include "packer/steps/packer.h"

/* Threads of a wide step, at most: each takes 3 us in each window, and at a move. */
#define BINDINGS_THREADS 512

/* Looks in a row that find a binding undone, until the step is left alone. */
#define BINDINGS_UNDONE 3

/* Reads the step's bindings, where it stands under the pool, before it is moved; while threads of
 * it are still on their way, what was read before them stays. Decides whether it may be wide: one
 * with too many threads is not. One that is bound elsewhere leaves berth's care, if it is still in
 * it: returns false then. */
bool bindings_read(const struct packer *packer, struct step *step);

/* Fills in where the bound threads shall run, now that the step's tasks have their CPUs. */
void bindings_image(const struct packer *packer, struct step *step);

/* Looks at the steps that stand elsewhere, once a window. Returns whether one has left berth's
 * care: it is to be brought home. */
bool bindings_turn(const struct packer *packer);

#endif
