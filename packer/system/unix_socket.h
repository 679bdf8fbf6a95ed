/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unix_socket - binds a Unix socket at a path, for the daemon's listeners. */
#ifndef BERTH_SYSTEM_UNIX_SOCKET_H
#define BERTH_SYSTEM_UNIX_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

#include "packer/base/error.h"

/* Makes a Unix socket at `path` with that mode, bound and not yet listening. What a dead daemon
 * left there is removed; a path where a live one answers, or that is no socket, is an error. Its
 * folder is made (0755) where it is missing. Returns the descriptor, or -1 and err. */
int unix_socket_bind(const char *path, mode_t mode, struct berth_error *err);

/* Which file a socket has: another one may be put in its place. */
struct unix_socket_file {
    dev_t dev;
    ino_t ino;
};

/* Does the same, and listens, with as long a queue as Linux has room for by default. *file: that of
 * the socket. */
int unix_socket_listen(const char *path, mode_t mode, struct unix_socket_file *file,
                       struct berth_error *err);

/* Says whether the path is that file still. */
bool unix_socket_is_at(const char *path, const struct unix_socket_file *file);

/* Returns whose connection it is (SO_PEERCRED); (uid_t)-1: nobody can tell. */
uid_t unix_socket_peer(int fd);

#endif
