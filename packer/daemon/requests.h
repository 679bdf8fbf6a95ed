/* SPDX-License-Identifier: GPL-2.0-or-later */
/* requests - the operations that a client can ask for: who may, and what does it. One line of the
 * table an operation. */
#ifndef BERTH_DAEMON_REQUESTS_H
#define BERTH_DAEMON_REQUESTS_H

#include "packer/daemon/reply.h"

struct request_op {
    bool root; /* only root may */

    /* Does what is asked, once, before anything is said. Returns 0, or -1 and err: the answer is
     * that error. NULL: there is nothing to do. */
    int (*act)(struct reply *reply, struct berth_error *err);

    /* Gives the next part of an answer of several lines, and the part's name; NULL: there is none
     * more. It is called again and again while steps come and go (steps/walk.h), and does what
     * takes less than a millisecond. What a user asks for is told from memory: no file is opened.
     */
    struct json_object *(*part)(struct reply *reply, const char **name);

    /* Gives the only line of an answer, for the caller to free; NULL: it does not fit a message. An
     * operation with neither says that it is done. */
    char *(*line)(struct reply *reply);
};

extern const struct request_op request_ops[WIRE_OPS];

#endif
