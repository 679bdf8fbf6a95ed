/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deal_job - gives the mover's thread (memory/mover.h) the memory of all processes of a step, to be
 * dealt or put back. */
#ifndef BERTH_INSIDE_DEAL_JOB_H
#define BERTH_INSIDE_DEAL_JOB_H

#include "packer/steps/packer.h"

/* The step's pages go `way`, MEMORY_DEAL over the nodes `to` or MEMORY_BACK, by step->inside.deal's
 * origin. `to` is where the step stands, in both cases. There must be a mover. 0, or -1 with
 * ENOMEM.
 */
int deal_job_put(const struct packer *packer, const struct step *step, enum memory_way way,
                 const struct cpus *to);

#endif
