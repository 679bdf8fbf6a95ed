/* SPDX-License-Identifier: GPL-2.0-or-later */
/* propose - a site's own policy says where a step is to stand (REEact, Wang 2015, chapter 7; the
 * message is daemon/propose.h). It is checked as berth's own decisions are: only inside the pool,
 * as many cores as the step has, none of somebody who stays; it is in the journal before it is
 * done, and undone as each other move. Whether it pays is the policy's business. */
#ifndef BERTH_ENACT_PROPOSE_H
#define BERTH_ENACT_PROPOSE_H

#include "packer/steps/packer.h"

/* Has the step (task SIZE_MAX), or its task, stand on the cores of these CPUs; who stands there
 * comes to those that it leaves. 0, or -1 and err: why not, one line; then nothing was moved, or
 * what could not be verified was put back. */
int propose_cpus(const struct packer *packer, struct step *step, size_t task,
                 const struct cpus *cpus, struct berth_error *err);

#endif
