/* SPDX-License-Identifier: GPL-2.0-or-later */
/* care - which steps are in berth's care: how one comes into it, and how it leaves. */
#ifndef BERTH_ENACT_CARE_H
#define BERTH_ENACT_CARE_H

#include "packer/steps/packer.h"

/* Decides which state a new step takes on, and why: placed, observed, or left alone. */
void care_begin(const struct packer *packer, struct step *step);

/* Returns why the step stays, for fear that it fails when it is moved or narrowed; NULL: it need
 * not. `why` is a place for that. */
#define CARE_WHY_MAX 128
const char *care_stays(const struct packer *packer, const struct step *step,
                       char why[CARE_WHY_MAX]);

/* May the step be moved whatever its program does: by its user's word or the site's, or since it is
 * only observed? */
bool care_moves(const struct packer *packer, const struct step *step);

/* Says in words what lets somebody stay: a variable, function or program `by`; NULL: nothing. */
const char *care_pin(enum wire_pin pin, const char *by, char why[CARE_WHY_MAX]);

/* Takes over a step that a berthd before this one had. */
void care_adopt(const struct packer *packer, struct step *step);

/* Leaves the step, for the state STEP_LEFT or STEP_FAILED: berth has no say over it any more, and
 * it uses all that Slurm gave it. One that berth had placed is `away` until rearrange() has brought
 * it home. `reason` is for people: "left alone: its CPU 3 is off". Returns -1 with nothing changed
 * where its state does not allow that. */
int step_leave(const struct packer *packer, struct step *step, enum step_state state,
               const char *reason);

/* Takes a step of the journal out of berth's care without a touch: what runs under its name is
 * another one. */
void care_disown(const struct packer *packer, struct step *step);

/* Leaves the step, unless it has left already, for a reason; or as its program has bound a thread
 * of it to these CPUs. Returns whether it has left now. */
bool care_leave(const struct packer *packer, struct step *step, const char *why);
bool care_leave_bound(const struct packer *packer, struct step *step, pid_t tid,
                      const struct cpus *to);

#endif
