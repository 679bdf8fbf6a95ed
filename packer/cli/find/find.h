/* SPDX-License-Identifier: GPL-2.0-or-later */
/* find - finds what berth knows of a job's steps, wherever somebody asks: at this node's berthd, in
 * the ledger, or at the berthd of the nodes where the job runs. */
#ifndef BERTH_CLI_FIND_FIND_H
#define BERTH_CLI_FIND_FIND_H

#include <json-c/json.h>
#include <stdbool.h>

#include "packer/base/error.h"
#include "packer/cli/common/job_id.h"
#include "packer/cli/options/options.h"

/* Where to look. */
struct find {
    const char *socket; /* given: nowhere else than at this berthd */
    const char *config; /* berth.conf; NULL: the usual one */
    bool here;          /* nowhere else than on this node, and not Slurm either */
    bool ask;           /* also, by srun into the job, on the nodes where it runs */
    double wait_s;      /* for srun; 0: REMOTE_WAIT_S */
    bool pieces;        /* `remote` asks: JSON goes out as common/pieces.h has it */
};

/* The rows of a verb whose struct has a `find`. */
#define FIND_OPTIONS(object)                                                                       \
    {"config", 0, "FILE", "berth.conf: it names the socket and the ledger",                        \
     CTL_TEXT(object, find.config)},                                                               \
        {"here", 0, NULL, "ask nobody but this node", CTL_FLAG(object, find.here)},                \
        {"pieces", 0, NULL, NULL, CTL_FLAG(object, find.pieces)},                                  \
        {"wait", 0, "S", "seconds that srun may take to ask another node (20)",                    \
         CTL_NUMBER(object, find.wait_s, "seconds", 0.1, 3600)},                                   \
    {                                                                                              \
        "socket", 0, "PATH", "ask the berthd that listens there", CTL_TEXT(object, find.socket)    \
    }

/* The row of a verb that may be told to ask the nodes where a job runs. Without that nothing is
 * ever started in a job. */
#define FIND_ASK(object)                                                                           \
    {                                                                                              \
        "ask", 0, NULL, "ask the nodes where the job runs: srun starts a step in it for a moment", \
            CTL_FLAG(object, find.ask)                                                             \
    }

/* Prints an answer as JSON, and releases it: for a person or a pipe, or for who asks from another
 * node. Returns 0, or 1 after saying so when stdout cannot be written. */
int find_print_json(const struct find *find, struct json_object *answer);

/* Finds the steps that are meant. Returns {"node":..,"steps":[..]}, as `explain` answers; steps of
 * the ledger have "from":"ledger", and no more than it knows. `id` becomes a plain name where that
 * was found out. NULL and err, one line, which says why berth tells nothing, and what to do about
 * it (untold.h): `say` is the verb. The caller releases it. */
struct json_object *find_steps(const struct find *find, const char *say, struct job_id *id,
                               const char *name, struct berth_error *err);

/* Finds a node's `status`, which the caller releases. NULL and err. */
struct json_object *find_node(const struct find *find, const char *node, struct berth_error *err);

#endif
