/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranks_care - the ranks of MPI programs come into berth's care, one by one, and leave it.
 *
 * A batch script or a launcher is left where Slurm put it, for nobody knows what it starts. The
 * ranks that were seen in it are known: they become its tasks (steps/rank_tasks.h), and the step is
 * placed, if all of them were bound to a part of its cores by their launcher, were so at two looks,
 * if their executables bear to be moved, and if nothing else in the step works. When they are over,
 * or any of that ends, the step goes home and is left again. A launcher that starts others
 * meanwhile finds all of the step's home: it is seen at the next look, a second later at most;
 * until then the new ones run on home cores, where another step may stand.
 *
 * Of a step whose user asked for a word that moves it anyway (care.h), the ranks become the tasks,
 * too, so that each is sized and placed by itself. */
#ifndef BERTH_ENACT_RANKS_CARE_H
#define BERTH_ENACT_RANKS_CARE_H

#include "packer/steps/packer.h"

/* So long after a look was asked for, its answer does not come any more: the ranks may be over. */
#define RANKS_LOST_S 10.0

/* Follows what was found of ranks since it was called last. */
void ranks_care_turn(const struct packer *packer);

#endif
