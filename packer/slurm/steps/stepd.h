/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stepd - hears of it when the slurmstepd of a live step ends without a word.
 *
 * A step's end is told by its plugin, and where slurmstepd was killed by the job's epilog. But
 * slurmd calls no epilog of a plugin with PrologFlags=RunInJob (Slurm 24.05), nor where
 * plugstack.conf is younger than slurmd, and gives the job's cores away all the same. What
 * slurmstepd had to say it has said before it ended: requests of root's are read first. */
#ifndef BERTH_SLURM_STEPS_STEPD_H
#define BERTH_SLURM_STEPS_STEPD_H

#include "packer/steps/packer.h"

/* Watches the slurmstepd of a step, where it is known. */
void stepd_watch(const struct packer *packer, const struct step *step);

/* Returns the next live step whose slurmstepd has ended, once; NULL: there is none. */
struct step *stepd_next_gone(const struct packer *packer);

/* Returns the seconds until stepd_next_gone() is to be asked, if process_watch_fd() is silent; < 0:
 * never. */
double stepd_due(const struct packer *packer);

#endif
