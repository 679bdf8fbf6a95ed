/* SPDX-License-Identifier: GPL-2.0-or-later */
/* untold - why berth tells nothing of a job, in one line, and what can be done about it.
 * packer/cli/find/untold.def has a row for each reason. */
#ifndef BERTH_CLI_FIND_UNTOLD_H
#define BERTH_CLI_FIND_UNTOLD_H

#include "packer/base/error.h"
#include "packer/cli/find/slurm_job.h"

enum untold {
#define UNTOLD(ID, ...) UNTOLD_##ID,
#include "packer/cli/find/untold.def"
#undef UNTOLD
    UNTOLDS
};

/* What somebody asks, as he would type it: "berthctl explain 3_2". */
struct typed {
    const char *verb, *name;
};

/* Writes the sentence, and behind it the remedy. `job` is NULL where Slurm does not know it; `why`
 * is what went wrong, "" nothing. Returns -1. */
int untold_set(struct berth_error *err, enum untold reason, const struct typed *typed,
               const struct slurm_job *job, const char *why);

#endif
