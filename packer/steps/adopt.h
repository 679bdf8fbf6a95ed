/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adopt - whether what runs under a step's name is the step that the journal has. A job that was
 * requeued while there was no berthd has steps of the same names, on other cores perhaps. */
#ifndef BERTH_STEPS_ADOPT_H
#define BERTH_STEPS_ADOPT_H

#include <stdbool.h>

#include "packer/steps/packer.h"

enum adopt { ADOPT_SAME, ADOPT_OTHER, ADOPT_NOBODY };

/* Says whether a step that the journal has is the one that runs: a task of it must live, by pid and
 * start, and be in the step's cgroup. Where a journal of an older berth has no starts, the task
 * must have been there when the step was registered. ADOPT_NOBODY: no process is left of it. */
enum adopt adopt_of(const struct packer *packer, const struct step *step);

/* The hand is told of the journal's steps: only then they can be changed, and sent home. */
void adopt_hand(const struct packer *packer);

/* The tasks of the journal's steps stand where the permutation puts them; in a wide cpuset, as far
 * as the steps have few threads. */
void adopt_places(const struct packer *packer);

#endif
