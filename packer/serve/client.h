/* SPDX-License-Identifier: GPL-2.0-or-later */
/* client - a connection: requests are read, one reply at a time is said as it is read.
 *
 * Root is served first (the loop's priorities), and as long as he likes; what is asked by root
 * waits in rounds by whose step it is about, so that one user's many launches do not stand before
 * another's one. Users take turns, too: a turn begins one request or says one line, and costs its
 * user what it took (serve/budget.h), which also says whose turn is next. A request has
 * to be whole 10 s after its first byte; a client that says nothing, or reads nothing, for so long
 * is hung up on. Where an answer has to be waited for (serve/reply.h), the client has no turn until
 * then, or gets an error after 10 s. One thread: nothing here races. */
#ifndef BERTH_SERVE_CLIENT_H
#define BERTH_SERVE_CLIENT_H

#include <event2/event.h>
#include <sys/queue.h>

#include "packer/base/log.h"
#include "packer/serve/budget.h"
#include "packer/serve/reply.h"
#include "packer/serve/rounds.h"
#include "packer/steps/packer.h"
#include "packer/system/subuids.h"

/* The event loop's, the first one first: root's connections, what berthd does by itself (what no
 * priority is said of), users. */
enum { PRIORITY_ROOT, PRIORITY_SELF, PRIORITY_USERS, PRIORITIES };

struct client;

struct clients {
    struct event_base *base;
    const struct packer *packer;
    const struct request_op *ops; /* [WIRE_OPS]: what clients can ask for */
    struct subuids subuids;       /* who may be many users */
    struct budget budget;
    LIST_HEAD(client_list, client) list;
    size_t roots;            /* root's connections */
    struct rounds rounds;    /* those of them that are to be served next, */
    struct event *round;     /* and when */
    struct event *users;     /* the next turn of a user's connection that stands in line */
    struct timeval patience; /* with a client that says nothing, or reads nothing */
    struct log_limit refused, too_long;
};

/* Returns 0, or -1 without memory: nothing is to be closed. */
int clients_init(struct clients *clients, struct event_base *base, const struct packer *packer,
                 const struct request_op *ops);
void clients_close(struct clients *clients); /* hangs up on all */

/* Takes over a connection. One that cannot be served is told why, and closed: the plugin then fails
 * open. */
void client_open(struct clients *clients, int fd);

#endif
