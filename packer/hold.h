/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hold - making a decided permutation true: journal, move in a safe order, put back what cannot be
 * verified. */
#ifndef BERTH_HOLD_H
#define BERTH_HOLD_H

#include "packer.h"

/* Put the steps where `next` wants them (next is taken over: the caller must not free it). The
 * journal is written first; steps whose new cores are free move before others. A step that cannot
 * be verified is put back, marked failed and taken out of the pool, and the others make room. Steps
 * already in place are not touched, unless `all` is set (after a restart). 0, or -1 and err when
 * nothing could be journaled and nothing was done, except with `must` (a core is about to be given
 * away): then it is done all the same. */
enum hold_flags { HOLD_ALL = 1, HOLD_MUST = 2 };
int hold_change(struct packer *packer, struct pool *next, unsigned flags, struct berth_error *err);

/* Where a step's tasks stand under the pool, filled into place and size. */
void hold_describe(const struct packer *packer, const struct pool *pool, struct step *step);

/* Put one step back where Slurm had it. */
void hold_restore(struct packer *packer, struct step *step);

#endif
