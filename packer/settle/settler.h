/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle - a job's figures go to slurmdbd, into its AdminComment, when it has ended.
 *
 * When the last step of a job on this node is over, the job is put on a list (settle/list.h). A
 * thread waits until the ledger has the node's records, adds up what it has of that run of the job,
 * and starts berth-comment with it, which knows from slurmdbd whether the job has ended. If not, it
 * is tried again, later and later.
 *
 * A ledger in MariaDB has the records of all the job's nodes. Each of these nodes does the same, so
 * there is no last one to be found: whose records arrive last tells figures with all of them in,
 * and who finds them there already writes nothing. A ledger in a file knows this node only, and the
 * figures of jobs with more nodes are not told. */
#ifndef BERTH_SETTLE_SETTLER_H
#define BERTH_SETTLE_SETTLER_H

#include <stdint.h>

#include "packer/base/error.h"
#include "packer/conf/conf.h"
#include "packer/settle/figures.h"

struct settler;
struct ledger;

/* Start, with what was left to be done. The ledger must live longer. 0; or -1 and err: the list's
 * file cannot be used, or there is no thread to be had. */
int settler_open(struct settler **out, const struct conf *conf, struct ledger *ledger,
                 struct berth_error *err);

/* Stop, at once; the list stays. NULL is fine, here and below. */
void settler_close(struct settler *settler);

/* The run has no step on this node any more. */
void settler_put(struct settler *settler, const struct settle_run *run);

/* The job has ended, as far as this node goes. */
void settler_job_end(struct settler *settler, uint32_t job);

#endif
