/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle - a job's figures go to slurmdbd when it has ended: into its AdminComment, and its energy
 * into AllocTRES, as the site wants.
 *
 * When the last step of a job on this node is over, the job is put on a list (settle/list.h). A
 * thread waits until the ledger has the node's records of it, adds up what it has of that run of
 * the job, and starts berth-comment with it, which knows from slurmdbd whether the job has ended.
 * If not, it is tried again, later and later.
 *
 * A ledger in MariaDB has the records of all the job's nodes. Each of these nodes does the same, so
 * there is no last one to be found: whose records arrive last tells figures with all of them in,
 * and who finds them there already writes nothing. A ledger in a file knows this node only, and the
 * figures of jobs with more nodes are not told. */
#ifndef BERTH_SETTLE_SETTLER_H
#define BERTH_SETTLE_SETTLER_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/base/error.h"
#include "packer/conf/conf.h"
#include "packer/settle/figures.h"

struct settler;
struct ledger;

/* Starts the thread. The ledger must live longer. Returns 0, or -1 and err: there is no thread to
 * be had. */
int settler_open(struct settler **out, const struct conf *conf, struct ledger *ledger,
                 struct berth_error *err);

/* Stops, at once; what was not told stays in the ledger's outbox. NULL is fine, here and below. */
void settler_close(struct settler *settler);

/* Takes up the runs that an earlier berthd has not told, but for those of jobs that has_steps(job,
 * arg) says to have steps here still: these are put when their last step is over. */
void settler_resume(struct settler *settler, bool (*has_steps)(uint32_t job, const void *arg),
                    const void *arg);

/* Says that the run has no step on this node any more: its record is in the ledger. */
void settler_put(struct settler *settler, const struct ledger_run *run);

/* Says whether energy is written into AllocTRES: what berth-comment has said of this site's Slurm
 * when it was asked, at the start. why: "" or why not, or not yet. */
bool settler_may_tell_energy(struct settler *settler, char why[256]);

/* Says that the job has ended, as far as this node goes. */
void settler_job_end(struct settler *settler, uint32_t job);

#endif
