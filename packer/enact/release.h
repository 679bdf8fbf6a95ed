/* SPDX-License-Identifier: GPL-2.0-or-later */
/* release - the way back that root takes while berthd runs: steps go home, and berth keeps off them
 * and off those that come after them.
 *
 * A released step stays released to its end. A released job's later steps are left alone too, as
 * long as the job has a step here; a released node's, until release_end(), in every berthd to come:
 * the journal knows. */
#ifndef BERTH_ENACT_RELEASE_H
#define BERTH_ENACT_RELEASE_H

#include "packer/steps/packer.h"

/* Leaves the steps that are marked as released: berth has no say over them any more, and those that
 * it had placed are `away` until enact_change has brought them home. */
void release_leave(const struct packer *packer);

/* Journals what `id` names as released, marks and leaves it. 0, or -1 and err with nothing done: no
 * such step, or no journal. */
int release_steps(const struct packer *packer, struct wire_step_id id, struct berth_error *err);

/* Ends the release of the node and of its jobs: berth places new steps again, and leaves those that
 * were released alone. Writes it to the journal first. 0, or -1 and err with nothing changed. */
int release_end(const struct packer *packer, struct berth_error *err);

#endif
