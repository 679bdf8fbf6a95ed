/* SPDX-License-Identifier: GPL-2.0-or-later */
/* door - see door.h */
#include "packer/hand/door.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/hand/pass.h"

#define TURN 16 /* of them at once */

static bool is_ours(const struct door *door)
{
    return door->fd >= 0 && unix_socket_is_at(door->path, &door->file);
}

int door_open(struct door *door, const char *path, struct berth_error *err)
{
    *door = (struct door){.path = path};
    door->fd = unix_socket_listen(path, 0600, &door->file, err);
    return door->fd < 0 ? -1 : 0;
}

void door_check(struct door *door)
{
    struct berth_error err;
    int old = door->fd;

    if (is_ours(door))
        return;
    if (door_open(door, door->path, &err) < 0) {
        fprintf(stderr, "berth-hand: %s\n", err.text);
        door->fd = old;
        return;
    }
    file_close(old);
}

void door_pass(struct door *door, int head)
{
    for (int i = 0; i < TURN; i++) {
        int fd = accept4(door->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0)
            return;
        if (unix_socket_peer(fd) == 0)
            pass_send(head, "", 1, fd);
        close(fd);
    }
}

void door_close(struct door *door)
{
    if (is_ours(door))
        unlink(door->path);
    file_close(door->fd);
    door->fd = -1;
}
