/* SPDX-License-Identifier: GPL-2.0-or-later */
/* door - see door.h */
#include "packer/hand/door.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/hand/pass.h"
#include "packer/system/unix_socket.h"

#define BACKLOG 4096 /* as serve/listen.c */
#define TURN 16      /* of them at once */

static bool is_ours(const struct door *door)
{
    struct stat st;

    return door->fd >= 0 && lstat(door->path, &st) == 0 && st.st_dev == door->at[0] &&
           st.st_ino == door->at[1];
}

int door_open(struct door *door, const char *path, struct berth_error *err)
{
    struct stat st;

    *door = (struct door){.path = path, .fd = unix_socket_bind(path, 0600, err)};
    if (door->fd < 0)
        return -1;
    if (listen(door->fd, BACKLOG) == 0 && lstat(path, &st) == 0) {
        door->at[0] = st.st_dev;
        door->at[1] = st.st_ino;
        return 0;
    }
    file_close(door->fd);
    door->fd = -1;
    return berth_error_set(err, "%s: cannot listen", path);
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

static bool is_roots(int fd)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == 0;
}

void door_pass(struct door *door, int head)
{
    for (int i = 0; i < TURN; i++) {
        int fd = accept4(door->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0)
            return;
        if (is_roots(fd))
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
