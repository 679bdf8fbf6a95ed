/* SPDX-License-Identifier: GPL-2.0-or-later */
/* home - where Slurm put a step: its cgroup, and the CPUs of its job, of itself and of each task.
 */
#ifndef BERTH_SLURM_STEPS_HOME_H
#define BERTH_SLURM_STEPS_HOME_H

#include "packer/steps/packer.h"

/* Finds the homes of a new step, whose tasks stand there, and whether it is bound by hand to a part
 * of its home. 0, or -1 and err when the step cannot be
 * found on the node. */
int home_find(const struct packer *packer, struct step *step, struct berth_error *err);

#endif
