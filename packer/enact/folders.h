/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folders - what new folders of Slurm's mean for the steps that stand in the pool.
 *
 * Slurm gives a core of the pool to a job that berthd does not know in two cases. It has given it
 * away: the job that had it is suspended, or its end was never heard of, and others leave the core
 * at once: before a task of the newcomer begins, if that job has been stopped by then. Or it lets
 * jobs share it (OverSubscribe=FORCE): the newcomer may be about to register, and nobody is moved
 * before its first program runs. */
#ifndef BERTH_ENACT_FOLDERS_H
#define BERTH_ENACT_FOLDERS_H

#include <stdbool.h>

#include "packer/steps/packer.h"

/* Hears what is new, and looks again at what was. Returns whether others have to leave cores, or
 * may use some again. */
bool folders_turn(const struct packer *packer);

/* Returns the seconds until folders_turn() is due, if nothing is heard before; < 0: never. */
double folders_due(const struct packer *packer);

#endif
