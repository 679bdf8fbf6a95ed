/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hold - making a decided permutation true: journal, move in a safe order, put back what cannot be
 * verified. */
#ifndef BERTH_ENACT_ENACT_H
#define BERTH_ENACT_ENACT_H

#include "packer/steps/packer.h"

/* Puts the steps where `next` wants them (next is taken over: the caller must not free it). The
 * journal is written first; steps whose new cores are free move before others. A step that cannot
 * be verified is put back and marked failed: it is for the caller to take it out of the pool
 * (rearrange.h). `fresh` (or NULL) is a step that stands where Slurm put it, whatever the pool said
 * before; others are touched only where the pool changes, or all with HOLD_ALL (after a restart).
 * Returns how many steps failed; or -1 and err when nothing could be journaled and nothing was
 * done; with HOLD_MUST (a core is about to be given away) it is done all the same. */
enum hold_flags { HOLD_ALL = 1, HOLD_MUST = 2 };
long hold_change(struct packer *packer, struct pool *next, const struct step *fresh, unsigned flags,
                 struct berth_error *err);

/* Makes the steps of the job stand where they stood, once more: Slurm has written its list again.
 * Returns how many steps failed. */
size_t hold_again(struct packer *packer, uint32_t job);

/* Make one step stand where Slurm had it, in two attempts. 0, or -1 and err. */
int hold_go_home(struct packer *packer, const struct step *step, struct berth_error *err);

/* Put one step back where Slurm had it. Where that fails it is `away`, and hold_change tries again.
 */
void hold_restore(struct packer *packer, struct step *step);

#endif
