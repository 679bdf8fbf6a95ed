/* SPDX-License-Identifier: GPL-2.0-or-later */
/* offline - CPUs that are switched off while steps run. Their cores leave the pool: who stood there
 * moves on, and a step that Slurm had put there is left to the kernel, on what remains of its
 * cores. */
#ifndef BERTH_ENACT_OFFLINE_H
#define BERTH_ENACT_OFFLINE_H

#include "packer/steps/packer.h"

/* Which CPUs the kernel runs, from /sys/devices/system/cpu/online. Nothing is known to be off where
 * that cannot be read, or where the way moves nothing. Returns whether anything has changed. */
bool offline_read(const struct packer *packer);

/* From now on only these run. Returns whether anything has changed. */
bool offline_set(const struct packer *packer, const struct cpus *online);

/* Leave the steps whose own CPUs are off: they are `away` until enact_change has brought them to
 * what is left of their homes. */
void offline_leave(const struct packer *packer);

/* The step without its CPUs that are off, where others remain; into *rest, with tasks in task[] (as
 * many as the step has). */
void offline_rest(const struct packer *packer, const struct enforce_step *step,
                  struct enforce_step *rest, struct enforce_task *task);

#endif
