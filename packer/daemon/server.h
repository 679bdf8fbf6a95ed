/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server - the Unix socket: who may say what, and which stage answers.
 *
 * Only uid 0 may register and end steps; anybody may read the node's status and his own steps
 * (SO_PEERCRED). One libevent loop, one thread: a request is answered before the next is read, so
 * stages never race each other. */
#ifndef BERTH_DAEMON_SERVER_H
#define BERTH_DAEMON_SERVER_H

#include <event2/event.h>

#include "packer/steps/packer.h"

struct server;

/* Listen on packer->conf.socket (its folder is created 0755; a stale socket is replaced, a live one
 * is an error). 0 and *out, or -1 and err. */
int server_open(struct server **out, struct event_base *base, struct packer *packer,
                struct berth_error *err);
void server_close(struct server *server); /* also removes the socket */

#endif
