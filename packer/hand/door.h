/* SPDX-License-Identifier: GPL-2.0-or-later */
/* door - the socket of root's plugin, of which the hand has the listening end: who connects is
 * given to the head, if he is root. */
#ifndef BERTH_HAND_DOOR_H
#define BERTH_HAND_DOOR_H

#include "packer/base/error.h"
#include "packer/system/unix_socket.h"

struct door {
    const char *path;
    int fd; /* that listens; -1: it could not be bound */
    struct unix_socket_file file;
};

/* Binds the path, whose string stays the caller's. 0, or -1 and err. */
int door_open(struct door *door, const char *path, struct berth_error *err);

/* Binds it anew where its file is not ours any more. */
void door_check(struct door *door);

/* Gives who has come, as far as they are root, to the other end of the socket pair `head`. */
void door_pass(struct door *door, int head);

void door_close(struct door *door); /* removes the file, if it is ours */

#endif
