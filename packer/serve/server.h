/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server - the two Unix sockets: everybody's, and beside it the plugin's, which only root may
 * connect to.
 *
 * Only uid 0 may register and end steps, at either; anybody may read the node's status and his own
 * steps (SO_PEERCRED). One libevent loop, one thread: a request is done before the next one begins,
 * so stages never race each other. */
#ifndef BERTH_SERVE_SERVER_H
#define BERTH_SERVE_SERVER_H

#include <event2/event.h>

#include "packer/serve/reply.h"
#include "packer/steps/packer.h"

struct server;

/* Returns an event loop that serves root first, then berthd's own events, then users; NULL: no
 * memory. The caller frees it. */
struct event_base *server_loop(void);

/* Listens at packer->world.conf.socket, and at its name with WIRE_PLUGIN_SUFFIX (the folder is
 * created 0755; a stale socket is replaced, a live one is an error), and serves ops[WIRE_OPS]. 0
 * and *out, or -1 and err. */
int server_open(struct server **out, struct event_base *base, const struct packer *packer,
                const struct request_op *ops, struct berth_error *err);

/* Binds a socket anew whose file was removed. Returns true when one was. */
bool server_check(struct server *server);
void server_close(struct server *server); /* also removes the sockets */

#endif
