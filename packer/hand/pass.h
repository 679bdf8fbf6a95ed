/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pass - messages over a socket pair, with a descriptor where one goes along (SCM_RIGHTS). */
#ifndef BERTH_HAND_PASS_H
#define BERTH_HAND_PASS_H

#include <stddef.h>
#include <sys/types.h>

/* Sends one message of so many bytes; fd -1: without a descriptor, which stays the caller's. 0, or
 * -1 with errno: EPIPE where nobody is at the other end, EAGAIN where he does not listen. */
int pass_send(int socket, const void *data, size_t size, int fd);

/* Waits for one message. fd NULL: a descriptor that comes along is closed; else it is the caller's,
 * close-on-exec, or -1. Returns its bytes, 0 where nobody is at the other end, or -1 with errno
 * (EMSGSIZE: it was longer than `size`). */
ssize_t pass_receive(int socket, void *data, size_t size, int *fd);

#endif
