/* SPDX-License-Identifier: GPL-2.0-or-later */
/* release - the way back that root takes while berthd runs: steps go home, and berth keeps off them
 * and off those that come after them.
 *
 * A released step stays released to its end. A released job's later steps are left alone too, as
 * long as the job has a step here; a released node's, until release_end(), in every berthd to come:
 * the journal knows. */
#ifndef BERTH_RELEASE_H
#define BERTH_RELEASE_H

#include "packer.h"

#define RELEASE_ALL ((struct wire_step_id){UINT32_MAX, UINT32_MAX})

/* Does `id` (step UINT32_MAX: the whole job, job UINT32_MAX: the whole node) mean this step? */
bool release_means(struct wire_step_id id, const struct step *step);

/* Mark what `id` names as released, which is what reading the journal does. Steps that berth had a
 * say over are left now, and `away` until hold_change has brought them home. */
void release_mark(struct packer *packer, struct wire_step_id id);

/* Journal it, then mark. 0, or -1 and err with nothing done: no such step, or no journal. */
int release_steps(struct packer *packer, struct wire_step_id id, struct berth_error *err);

/* The reverse for what comes: new steps are placed again. Steps that were released stay so. */
void release_unmark(struct packer *packer);
int release_end(struct packer *packer, struct berth_error *err);

/* A new step: is it released by its node or its job? Then it is marked so. */
bool release_inherit(const struct packer *packer, struct step *step);

#endif
