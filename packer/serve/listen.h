/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen - a Unix socket that connections come to: some of them a turn, so that a storm of them
 * keeps nobody else waiting, and a pause where the process or the node has no descriptor left. A
 * socket whose file was removed is bound anew. */
#ifndef BERTH_SERVE_LISTEN_H
#define BERTH_SERVE_LISTEN_H

#include <event2/event.h>
#include <stdbool.h>
#include <sys/types.h>

#include "packer/base/error.h"

struct listener;

/* Takes a new connection's descriptor over, which does not block. */
typedef void (*listener_on)(int fd, void *arg);

/* Listens at the path (system/unix_socket.h) with that mode, at that priority of the event loop. 0
 * and *out, or -1 and err. */
int listener_open(struct listener **out, struct event_base *base, const char *path, mode_t mode,
                  int priority, listener_on on, void *arg, struct berth_error *err);

/* Binds the path anew where its file is not the listener's any more. Returns true when it was; a
 * failure is logged, and the next call tries again. */
bool listener_check(struct listener *listener);
void listener_close(struct listener *listener); /* NULL is fine; removes the file, if it is ours */

#endif
