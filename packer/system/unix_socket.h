/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unix_socket - binds a Unix socket at a path, for the daemon's listeners. */
#ifndef BERTH_SYSTEM_UNIX_SOCKET_H
#define BERTH_SYSTEM_UNIX_SOCKET_H

#include <sys/types.h>

#include "packer/base/error.h"

/* Makes a Unix socket at `path` with that mode, bound and not yet listening. What a dead daemon
 * left there is removed; a path where a live one answers, or that is no socket, is an error. Its
 * folder is made (0755) where it is missing. Returns the descriptor, or -1 and err. */
int unix_socket_bind(const char *path, mode_t mode, struct berth_error *err);

#endif
