/* SPDX-License-Identifier: GPL-2.0-or-later */
/* binders - programs that bind their threads, though nothing said so when they started.
 *
 * What an executable imports says what it may do, not what it does: a function that is found by
 * itself, a library that is linked in, or a system call of its own is not seen there. So what was
 * seen of a run is kept with the program's profile, and says of its user's next runs that they are
 * left where Slurm puts them (care.h). It is seen in the masks of the threads:
 *   - of a step that stands elsewhere, which is looked at in each window (bindings.h): a thread has
 * at a second look what it has bound itself to, or is bound elsewhere;
 *   - of one that stands at home, when 1, 2, 4, 8, ... windows of its life are over.
 * A thread is bound when it lacks a CPU of its task. Who has all of them may have asked for that,
 * but loses nothing by a move.
 *
 * Runs that are seen to bind none lift it again. But of a task that has one CPU, and stays there,
 * nothing is seen: such a run lifts nothing.
 *
 * What was known before is not counted: by the step's environment, its wrapper or the executable,
 * and what a launcher does to its ranks. Nor is it what srun was told, or what berth or the kernel
 * has done to the masks. Nobody can tell who has bound a thread: somebody else's taskset counts as
 * the program's own.
 *
 * The system calls are not counted by a tracepoint: while one of sched_setaffinity is open, for
 * whatever process, each system call of each process of the node takes 35 ns longer (measured: 150
 * in place of 115). */
#ifndef BERTH_ENACT_BINDERS_H
#define BERTH_ENACT_BINDERS_H

#include "packer/steps/packer.h"

/* Takes note that the step's program has bound a thread, unless that says nothing of it, or was
 * noted before. */
void binders_note(const struct packer *packer, struct step *step);

#endif
