/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rearrange - the sentence of the program: who stands in the pool, who uses which of his cores,
 * where everybody shall stand, and that he stands there. */
#ifndef BERTH_ENACT_REARRANGE_H
#define BERTH_ENACT_REARRANGE_H

#include "packer/steps/stand.h"

/* Brings the pool's members up to date, decides where `fresh` (or NULL) stands if it is a step that
 * berth places, and others where that cannot wait for the next turn (place_looks), and makes it
 * true. Steps that cannot be moved are put back and leave the pool, and the others make room.
 * flags: ENACT_ALL (enact.h), REARRANGE_DEAL: cores that several jobs have are divided anew,
 * REARRANGE_UNTOLD; or 0.
 * Returns 0; or -1 and err with nothing done, which can be for want of memory, and where a place
 * for `fresh` could not be decided or journaled. */
#define REARRANGE_DEAL 4u   /* behind the flags of enact.h */
#define REARRANGE_UNTOLD 8u /* the caller has it predicted what that makes of the steps */
int rearrange(const struct packer *packer, struct step *fresh, unsigned flags,
              struct berth_error *err);

/* Finds a step that has just come its place in the scene's pool, which is up to date. Returns 0, or
 * -1 and err. */
int rearrange_launch(const struct scene *next, struct step *fresh, struct berth_error *err);

/* Makes a permutation true that has been decided: `next`, which is taken over. flags: enact.h. */
int rearrange_as(const struct packer *packer, struct pool *next, unsigned flags,
                 struct berth_error *err);

/* Slurm has written the list of this job again: its steps stand where they stood, once more. */
void rearrange_again(const struct packer *packer, uint32_t job);

/* Goes on with what was left for later turns (enact.h), as much as one turn may do; who cannot be
 * moved is put back and leaves the pool. Returns whether there is more to do. */
bool rearrange_turn(const struct packer *packer);

/* Others leave the cores of those who are gone, released or not registered, first of all. */
void rearrange_room(const struct packer *packer);

/* Does that, and divides cores that several jobs have anew: in a turn, since steps have come or
 * gone, or need others. What that makes of the steps is for the caller to predict (place_predict).
 */
void rearrange_deal(const struct packer *packer);

#endif
