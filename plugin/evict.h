/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evict - sends home who stands on a step's cores, where berthd cannot.
 *
 * Steps may stand on cores that Slurm has given to nobody; whoever gets them asks berthd, which
 * makes room (step.c). A berthd that is dead or hangs does not. Then the plugin does what keeps the
 * cores free: it sets the affinity of the others' threads to the CPUs that Slurm gave them, which
 * are in their cpusets. What is left to be done berthd does when it is back. */
#ifndef BERTH_EVICT_H
#define BERTH_EVICT_H

#include <stddef.h>

#include "packer/wire/wire.h"

/* Sends home the steps that stand on any of these CPUs, as the mark at `path` says
 * (packer/wire/wire_guest.h). Returns how many threads were sent; what cannot be read or moved is
 * left. */
size_t evict_from(const struct cpus *cpus, const char *path);

#endif
