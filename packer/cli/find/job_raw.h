/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_raw - finds Slurm's own number of a job that is named as a task of an array or as a part of a
 * heterogeneous job: by what the node's berthd knows, else by squeue, else by sacct. */
#ifndef BERTH_CLI_FIND_JOB_RAW_H
#define BERTH_CLI_FIND_JOB_RAW_H

#include "packer/base/error.h"
#include "packer/cli/common/job_id.h"

/* Makes a plain name of any (job_id_is_plain). Asks the berthd at `socket` (NULL: where the
 * configuration says) first, and Slurm for some seconds at most. 0, or -1 and err: there is no such
 * job, or nobody here who knows. */
int job_raw_find(const char *socket, struct job_id *id, struct berth_error *err);

/* Does the same, and asks Slurm only. */
int job_raw_ask_slurm(struct job_id *id, struct berth_error *err);

#endif
