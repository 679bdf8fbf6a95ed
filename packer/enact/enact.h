/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hold - making a decided permutation true: journal, move in a safe order, put back what cannot be
 * verified. */
#ifndef BERTH_ENACT_ENACT_H
#define BERTH_ENACT_ENACT_H

#include "packer/steps/packer.h"

/* Put the steps where `next` wants them (next is taken over: the caller must not free it). The
 * journal is written first; steps whose new cores are free move before others. A step that cannot
 * be verified is put back, marked failed and taken out of the pool, and the others make room.
 * `fresh` (or NULL) is a step that stands where Slurm put it, whatever the pool said before; others
 * are touched only where the pool changes, or all with HOLD_ALL (after a restart). 0, or -1 and err
 * when nothing could be journaled and nothing was done; with HOLD_MUST (a core is about to be given
 * away) it is done all the same. */
enum hold_flags { HOLD_ALL = 1, HOLD_MUST = 2 };
int hold_change(struct packer *packer, struct pool *next, const struct step *fresh, unsigned flags,
                struct berth_error *err);

/* Slurm has written the list of this job again: its steps stand where they stood, once more. */
void hold_again(struct packer *packer, uint32_t job);

/* Where a step's tasks stand under the pool, filled into place. */
void hold_describe(const struct packer *packer, const struct pool *pool, struct step *step);

/* Does this node's way read back what stands? dryrun touches nothing and verifies nothing. */
bool hold_verifies(const struct packer *packer);

/* Make one step stand where Slurm had it, in two attempts. 0, or -1 and err. */
int hold_go_home(struct packer *packer, const struct step *step, struct berth_error *err);

/* Put one step back where Slurm had it. Where that fails it is `away`, and hold_change tries again.
 */
void hold_restore(struct packer *packer, struct step *step);

#endif
