/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ending - a step is over, however that became known. */
#ifndef BERTH_DAEMON_ENDING_H
#define BERTH_DAEMON_ENDING_H

#include "packer/steps/packer.h"

/* Takes a live step out of everything, and its last cgroup of berth's with it: it is history then.
 * end NULL: nobody knows how it ended. Others are given its cores by the caller. */
void step_over(const struct packer *packer, struct step *step, const struct wire_end *end);

#endif
