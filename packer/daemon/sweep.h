/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sweep - what nobody told of is looked for: steps that vanished, and what an earlier berthd has
 * left on the node. */
#ifndef BERTH_DAEMON_SWEEP_H
#define BERTH_DAEMON_SWEEP_H

#include "packer/steps/packer.h"

/* Ends the steps that have had no process for so long, reads who else is on the node, and brings
 * the journal up to date. */
void sweep_steps(const struct packer *packer, double patience_s);

/* Gives steps that no journal knows of, and whose folders berth has changed, back what Slurm gave
 * them. */
void sweep_unknown(const struct packer *packer);

/* Removes berth's cgroups, but for those of live steps if `keep_live`; else for those of steps that
 * began elsewhere and have to stay (kept.h). */
void sweep_folders(const struct packer *packer, bool keep_live);

#endif
