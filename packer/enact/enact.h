/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enact - making a decided permutation true: journal, move in a safe order, put back what cannot be
 * verified. */
#ifndef BERTH_ENACT_ENACT_H
#define BERTH_ENACT_ENACT_H

#include "packer/steps/packer.h"

/* Puts the steps where `next` wants them (next is taken over: the caller must not free it). The
 * journal is written first; steps whose new cores are free move before others. A step that cannot
 * be verified is put back and marked failed: it is for the caller to take it out of the pool
 * (rearrange.h). `fresh` (or NULL) is a step that stands where Slurm put it, whatever the pool said
 * before; others are touched only where the pool changes, or all with ENACT_ALL (after a restart).
 * Returns how many steps failed; or -1 and err when nothing could be journaled and nothing was
 * done; with ENACT_MUST (a core is about to be given away) it is done all the same. */
enum enact_flags { ENACT_ALL = 1, ENACT_MUST = 2 };
long enact_change(const struct packer *packer, struct pool *next, const struct step *fresh,
                  unsigned flags, struct berth_error *err);

/* Makes the steps of the job stand where they stood, once more: Slurm has written its list again.
 * Returns how many steps failed. */
size_t enact_again(const struct packer *packer, uint32_t job);

/* Goes on with the threads of steps that stand where they shall, confined, but were too many to be
 * seen to before an answer: a step is `verified` when this has seen to all of it, and is put back
 * where it cannot be. Returns whether there is more to do, and how many steps failed. */
bool enact_turn(const struct packer *packer, size_t *failed);

/* Does so with a step that may stand elsewhere; what fails is logged. */
void enact_bring_home(const struct packer *packer, const struct step *step);

/* Put one step back where Slurm had it. Where that fails it is `away`, and enact_change tries
 * again.
 */
void enact_restore(const struct packer *packer, struct step *step);

#endif
