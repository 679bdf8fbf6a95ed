/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trial - the standing trial: of the steps that berth would place and whose users have asked for
 * nothing, a part (berth.conf: control) is only observed, drawn by lot. What the others gain is
 * then measured against these (report/benefit.h), for as long as berth runs.
 *
 * The lot is a keyed hash of the job's number: all steps of a job, also of its later runs, are in
 * one arm, and nobody who does not have the key can foresee or aim at it. Who wants to be placed
 * for certain asks for it, and who wants to be watched, too.
 *
 * The key is made at the first start, and lies in state_dir. Each node then draws by itself, which
 * is right for a step that runs on this node alone. A step of several nodes must be in the same arm
 * on all of them: it takes part only where the site has given its nodes one key
 * (berth.conf: control_key), and else is placed, as without a trial. */
#ifndef BERTH_ENACT_TRIAL_H
#define BERTH_ENACT_TRIAL_H

#include "packer/steps/packer.h"

/* Draws for a step that is about to be placed. Returns whether it is only observed, and notes in
 * which arm it is, if it takes part. */
bool trial_takes(const struct packer *packer, struct step *step);

/* Returns whether lots are drawn; else *why is why not, where that is not as the site wants it
 * ("": it is). `nodes` (NULL is fine) becomes whether steps of several nodes take part. */
bool trial_runs(const struct packer *packer, bool *nodes, const char **why);

#endif
