/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inside - the stage that works inside a step: what its threads are given, beside cores.
 *
 * Each policy is a row of one table (policy.h) and a word of --contention-aware. It is for steps
 * whose user asked for it and berth.conf allows it, and does what the node can: else the step runs
 * as without the word, and explain says why. What it changes is in the journal before it is
 * changed, and undone when berth lets go of the step (release, failure, berthd's stop), and after a
 * kill by the next berthd. */
#ifndef BERTH_INSIDE_INSIDE_H
#define BERTH_INSIDE_INSIDE_H

#include <stdbool.h>

#include "packer/steps/packer.h"

/* berthd starts, and has read the journal. */
void inside_resume(const struct packer *packer);

/* A step begins, or is adopted: then what a berthd before this one has changed is undone first. */
void inside_begin(const struct packer *packer, struct step *step);

/* Looks after each step: takes in what was counted, decides, changes; undoes where berth has let go
 * of a step. To be called after each window. Returns whether there is more to do at once, which was
 * too much for one turn. */
bool inside_turn(const struct packer *packer);

/* Takes the readings of bursts that are due (inside/burst.h), and does what follows from them.
 * Returns the seconds until it is to be called again; < 0: no step needs that. To be called after
 * inside_turn(), too. */
double inside_bursts(const struct packer *packer);

/* Berth lets go of a live step, or stops: what was changed in it is undone. */
void inside_undo(const struct packer *packer, struct step *step);

/* berthd stops, and all steps were undone: waits for what takes time, INSIDE_STOP_S at most, and
 * logs what is not undone by then. */
#define INSIDE_STOP_S 10 /* ours */
void inside_stop(const struct packer *packer);

/* The step is over: nothing of it is looked after any more. Its threads that run on, where its end
 * was only told or its slurmstepd is gone, get back what they had. What explain tells stays. */
void inside_end(const struct packer *packer, struct step *step);

/* What runs under the step's name is another one: nothing is to be taken back from its threads. */
void inside_disown(struct step *step);

/* A site's own policy has proposed something that this policy does (steps/proposed.h): does it now.
 * 0, or -1 and err: it is not done, and what was begun is taken back. The caller then takes the
 * proposal back, too. */
int inside_propose(const struct packer *packer, struct step *step, enum step_policy i,
                   struct berth_error *err);

/* What it did for a proposal that holds no more is undone. */
void inside_withdraw(const struct packer *packer, struct step *step, enum step_policy i);

/* Returns the path of the page that the step's processes read (runtime/page.h); NULL: there is
 * none.
 */
const char *inside_page(const struct step *step);

/* The i-th policy's word where the step asked for it and it has no effect here, with the reason;
 * else NULL. i is raised to the next one to be asked; the last one was that where *i is 0. */
const char *inside_vain(const struct packer *packer, const struct step *step, size_t *i,
                        const char **word);

/* What this node has of a policy. */
struct inside_about {
    const char *word, *model; /* of --contention-aware, of `berthctl model` (NULL: none) */
    bool allowed;             /* by berth.conf */
    const char *lacks; /* why no step can have it here, though it is allowed; NULL: one can */
};

/* Says it of the i-th policy; false after the last one. */
bool inside_about(const struct packer *packer, size_t i, struct inside_about *about);

#endif
