/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stored - how many threads a step's tasks start with, by what `berthctl threads` has found of its
 * program (threads=auto). */
#ifndef BERTH_SIZE_STORED_H
#define BERTH_SIZE_STORED_H

#include <stddef.h>

#include "packer/steps/packer.h"

/* Returns how many threads the profile store has of the step's program for so many cores of this
 * type of machine; 0: the step did not ask, has a number of its own, or nothing is known. A store
 * that cannot be read is said in the log. */
size_t stored_threads(const struct packer *packer, const struct step *step, size_t cores);

#endif
