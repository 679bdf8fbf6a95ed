/* SPDX-License-Identifier: GPL-2.0-or-later */
/* identify - finds out who the jobs are: what slurmctld, slurmdbd and slurmd say, never a step.
 *
 * A step starts at once, and its job is asked for beside (identity/asker.h): the first step of a
 * run here asks, the others take over what is known. When the answer comes, words that waited for
 * the job's account or QOS take effect, and records that went into the ledger without it get it.
 * Where nobody answers, slurmd does at the job's end: it tells epilogs what stands in slurmctld's
 * credential. An answer counts only if its user is the steps'. */
#ifndef BERTH_DAEMON_IDENTIFY_H
#define BERTH_DAEMON_IDENTIFY_H

#include "packer/steps/packer.h"

/* Fills in who the new step's job is, or asks; and takes the words out of its options that are not
 * allowed, for good or until that is known. */
void identify_begin(const struct packer *packer, struct step *step);

/* Asks again, when the live steps are adopted, for the runs of which steps had ended before an
 * earlier berthd had an answer: one that was killed. */
void identify_resume(const struct packer *packer);

/* Takes the answers that have come. */
void identify_answers(const struct packer *packer);

/* Returns a step that may do more by these than before, once, for it to be placed anew; NULL: there
 * is no other. */
struct step *identify_granted(const struct packer *packer);

/* Notes that the job has ended, and what slurmd says of it (its source none: nothing). */
void identify_job_end(const struct packer *packer, uint32_t job, const struct wire_identity *said);

/* berthd stops: asks once more for the jobs whose steps have all ended, since the next berthd may
 * come much later, and waits IDENTIFY_STOP_S for that at most. */
void identify_stop(const struct packer *packer);
#define IDENTIFY_STOP_S 2.0

/* Looks which jobs Slurm has folders of: where the epilog is not called, that tells which are over.
 */
void identify_look(const struct packer *packer);

#endif
