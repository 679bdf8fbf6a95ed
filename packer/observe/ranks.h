/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranks - learns which ranks of MPI programs run in a step that is a launcher, a batch script or a
 * shell: mpirun in a batch script is the commonest way to start one.
 *
 * seek's thread looks (ranks_look.h): once a second while there are ranks, less and less often, up
 * to RANKS_APART_S, while there is none. A look costs the thread 3 us for each process of the step,
 * and the event loop the reading of its list. Who acts on what was found is enact/ranks_care.h. */
#ifndef BERTH_OBSERVE_RANKS_H
#define BERTH_OBSERVE_RANKS_H

#include "packer/steps/packer.h"

#define RANKS_LOOK_S 1.0
#define RANKS_APART_S 16.0

struct ranks_found;

/* Takes over what a look has found; NULL: there was no memory for it. */
void ranks_hear(struct step *step, const struct ranks_found *found);

#endif
