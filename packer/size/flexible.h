/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flexible - how many threads a step's tasks start with that are to run well on whatever cores they
 * get (the word flex; Wang 2015, section 6.6). */
#ifndef BERTH_SIZE_FLEXIBLE_H
#define BERTH_SIZE_FLEXIBLE_H

#include <stddef.h>

#include "packer/steps/packer.h"

/* Returns the number for a task that Slurm gave so many cores: what flex=N says, else the model's
 * (models/numa/flexthread.h) for a quarter of them to all, as in the paper, by what was measured of
 * the machine and of the program, and else by the paper's figures; 0: the step did not ask, or has
 * a number of its own. */
size_t flexible_threads(const struct packer *packer, const struct step *step, size_t cores);

#endif
