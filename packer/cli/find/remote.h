/* SPDX-License-Identifier: GPL-2.0-or-later */
/* remote - asks the berthd of other nodes: `srun --overlap` runs berthctl inside a job of the
 * asker's that runs there. It has the asker's rights and no more. */
#ifndef BERTH_CLI_FIND_REMOTE_H
#define BERTH_CLI_FIND_REMOTE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "packer/base/error.h"
#include "packer/cli/find/slurm_job.h"

#define REMOTE_WAIT_S 20 /* for srun, where the asker does not say */

struct remote {
    const struct slurm_job *job; /* runs, and is the asker's */
    const char *node;            /* of its nodes; NULL: all of them */
    const char *config;          /* berth.conf there; NULL: the usual one */
    double wait_s;
};

/* Runs `berthctl VERB --json [ARGUMENT]` there (ARGUMENT may be NULL). Adds what each node says to
 * the answer, as ctl_ask() gives it. 0, or -1 and err: nothing was said within the time, or what
 * went wrong; *told (NULL is fine) is whether berthctl there has said that, of what was asked. */
int remote_ask(const struct remote *remote, const char *verb, const char *argument,
               struct json_object *answer, bool *told, struct berth_error *err);

/* Adds the node (where there is none yet) and the steps of what was said to an answer. */
void remote_add(struct json_object *answer, struct json_object *said);

#endif
