/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rivals - who else ran on a step's CPUs, and on the other hardware threads of its cores: what its
 * CPUs worked, less what it worked itself, by its windows. Who that was the kernel does not tell:
 * other steps that have the same CPUs, where berthd knows of any at work there; else processes
 * outside Slurm. */
#ifndef BERTH_OBSERVE_RIVALS_H
#define BERTH_OBSERVE_RIVALS_H

#include "packer/steps/packer.h"
#include "packer/system/cpu_busy.h"

/* Takes in a reading of the busy CPUs; the step stands on `cpus`. With `same` it stood there at the
 * reading before, too, and its window has ended in between. */
void rivals_read(const struct packer *packer, struct step *step, const struct cpus *cpus,
                 const struct cpu_busy *busy, bool same);

#endif
