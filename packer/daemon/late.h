/* SPDX-License-Identifier: GPL-2.0-or-later */
/* late - steps whose tasks ran before anybody had heard what berthd says of them, because many
 * started at once, or berthd was stopped.
 *
 * slurmstepd waits 50 ms and no longer. A registration that was sent is taken in all the same: the
 * step is moved as one that runs, but uses all that Slurm gave, since its threads were counted
 * without berthd. With its end comes the registration once more, so that each has its record. */
#ifndef BERTH_DAEMON_LATE_H
#define BERTH_DAEMON_LATE_H

#include "packer/steps/packer.h"

/* Takes note that a registered step is late. Its place is for the caller to decide anew. */
void late_begin(const struct packer *packer, struct step *step);

/* Adds a step that was over before berthd knew of it, for its record only. Returns it, live and
 * left alone, for the caller to end; takes the request over. NULL: no memory, which is logged. */
struct step *late_known(const struct packer *packer, struct wire_register *request);

#endif
