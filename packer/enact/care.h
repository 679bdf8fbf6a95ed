/* SPDX-License-Identifier: GPL-2.0-or-later */
/* care - which steps are in berth's care: how one comes into it, and how it leaves. */
#ifndef BERTH_ENACT_CARE_H
#define BERTH_ENACT_CARE_H

#include "packer/steps/packer.h"

/* Why a step is left alone: the reason, and what says so; "" where nobody does. */
#define CARE_BY_MAX 304
struct care_why {
    enum wire_left left; /* WIRE_NOT_LEFT: it is not */
    char by[CARE_BY_MAX];
};

/* Says whether the step stays, for fear that it fails when it is moved or narrowed. */
struct care_why care_stays(const struct packer *packer, const struct step *step);

/* May the step be moved whatever its program does: by its user's word or the site's, or since it is
 * only observed? */
bool care_moves(const struct packer *packer, const struct step *step);

/* Says what lets somebody stay: `by` is a variable, function or program. */
struct care_why care_pin(enum wire_pin pin, const char *by);

/* Writes why somebody is left alone, in words, into text[size]; "" where he is not. Returns text.
 */
const char *care_text(const struct care_why *why, char *text, size_t size);

/* Leaves the step for that reason, of which `by` says more (NULL: there is nothing to say): berth
 * has no say over it any more, and it uses all that Slurm gave it. Its state is STEP_LEFT, or
 * STEP_FAILED where it was put back. One that berth had placed is `away` until rearrange() has
 * brought it home. Returns -1 with nothing changed where its state does not allow that. */
int step_leave(const struct packer *packer, struct step *step, enum wire_left left, const char *by);

/* Takes a step of the journal out of berth's care without a touch: what runs under its name is
 * another one. */
void care_disown(const struct packer *packer, struct step *step);

/* Leaves the step, unless it has left already, as step_leave(); or as its program has bound a
 * thread of it to these CPUs. Returns whether it has left now. */
bool care_leave(const struct packer *packer, struct step *step, enum wire_left left,
                const char *by);
bool care_leave_bound(const struct packer *packer, struct step *step, pid_t tid,
                      const struct cpus *to);

#endif
