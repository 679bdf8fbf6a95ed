/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage_folder - the CPU time of a step by the cgroup that Slurm has made for it, where it has one:
 * its processes are read once, for what they had used before, and then need not be listed. */
#ifndef BERTH_OBSERVE_USAGE_FOLDER_H
#define BERTH_OBSERVE_USAGE_FOLDER_H

#include "packer/steps/packer.h"

/* The step's processes pid[n] are going to be read: notes what its cgroup has counted until now.
 * Looks for that cgroup the first time. */
void usage_folder_note(const struct packer *packer, struct step *step, const pid_t *pid, size_t n);

/* They were read: what the step has used until then is known. */
void usage_folder_begin(struct step_use *use);

/* Takes what the cgroup has counted since. False: there is none, or no more, or its processes have
 * to be read first. */
bool usage_folder_take(struct step_use *use);

/* Forgets it. */
void usage_folder_drop(struct step_use *use);

#endif
