/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reply - the answer to one request, said line by line as the client reads it (berth-protocol(7)).
 *
 * The request is done when the first line is asked for; an answer of several lines is found out as
 * it is said, so that no answer takes the event loop for long, or memory for what nobody reads.
 * What has to wait for a disk or a server is found out by a thread: such a reply is said later. */
#ifndef BERTH_SERVE_REPLY_H
#define BERTH_SERVE_REPLY_H

#include <event2/buffer.h>
#include <json-c/json.h>

#include "packer/steps/packer.h"
#include "packer/steps/walk.h"

struct reply;

/* An operation that a client can ask for: who may, and what does it. */
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

    /* Adds the whole answer to the buffer, some dozens of KiB at most, when a thread has found it
     * out. Returns false where it is not known yet: reply_wake() is called when it is. */
    bool (*text)(struct reply *reply, struct evbuffer *out);

    /* Nobody has read that only line: the client had hung up. NULL: it does not matter. */
    void (*unheard)(struct reply *reply);
};

struct reply {
    const struct packer *packer;
    const struct request_op *ops; /* [WIRE_OPS] */
    uid_t uid;                    /* who asks */
    uid_t payer;                  /* in whose account that is (system/subuids.h) */
    struct wire_request request;
    bool decoded; /* request is to be cleared */
    bool begun;   /* it was done, or has failed */
    bool failed;  /* the answer is the error: */
    struct berth_error err;
    struct wire_answer answer; /* to a registration */
    struct step_walk walk;     /* of an answer about many steps; its registry NULL: there is none */
    void *own;                 /* what an operation keeps while it answers, */
    void (*own_free)(void *);  /* and how that is freed; NULL: there is none */
    double cpu_s;              /* what threads have spent on it, and nobody was charged with yet */
    void (*wake)(void *arg);   /* called by reply_wake(); NULL: nobody waits */
    void *wake_arg;
};

/* Reads what the line asks for, by the table ops[WIRE_OPS]. Returns the answer, for the caller to
 * end, or NULL: no memory. */
struct reply *reply_open(const struct packer *packer, const struct request_op *ops, uid_t uid,
                         const char *line, size_t length);

/* Returns the user whose step the request is about, where root says that it has come or gone; else
 * who asks. */
uid_t reply_is_for(const struct reply *reply);

enum reply_next {
    REPLY_OVER, /* that was the last line */
    REPLY_MORE,
    REPLY_LATER, /* nothing was added: reply_wake() says when to ask again */
};

/* Adds the answer's next line to the buffer; before the first one, does what was asked. */
enum reply_next reply_next(struct reply *reply, struct evbuffer *out);

/* Says that an answer that was not known is known now. */
void reply_wake(struct reply *reply);

/* Makes the answer, of which nothing was said yet, an error: nobody waits any longer. */
void reply_give_up(struct reply *reply);

/* Does it matter whether that is read? Then the reply is kept until the client has, or has not. */
bool reply_matters(const struct reply *reply);
void reply_unheard(struct reply *reply);
void reply_end(struct reply *reply); /* NULL is fine */

#endif
