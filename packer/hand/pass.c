/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pass - see pass.h */
#include "packer/hand/pass.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packer/base/file.h"

/* Room for one descriptor, aligned as the kernel wants it. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int pass_send(int socket, const void *data, size_t size, int fd)
{
    struct iovec part = {(void *)(uintptr_t)data, size};
    union control control = {.bytes = ""};
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t sent;

    if (fd >= 0) {
        struct cmsghdr *with = &control.align;

        head.msg_control = control.bytes;
        head.msg_controllen = sizeof(control.bytes);
        with->cmsg_level = SOL_SOCKET;
        with->cmsg_type = SCM_RIGHTS;
        with->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(with), &fd, sizeof(fd));
    }
    do
        sent = sendmsg(socket, &head, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size ? 0 : -1;
}

/* The descriptor that has come along; -1: none. */
static int taken(struct msghdr *head)
{
    struct cmsghdr *with = CMSG_FIRSTHDR(head);
    int fd = -1;

    if (with && with->cmsg_level == SOL_SOCKET && with->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(with), sizeof(fd));
    return fd;
}

ssize_t pass_receive(int socket, void *data, size_t size, int *fd)
{
    struct iovec part = {data, size};
    union control control = {.bytes = ""};
    struct msghdr head = {.msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = control.bytes,
                          .msg_controllen = sizeof(control.bytes)};
    ssize_t got;
    int with;

    do
        got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    with = got < 0 ? -1 : taken(&head);
    if (fd)
        *fd = with;
    else
        file_close(with);
    if (got >= 0 && head.msg_flags & MSG_TRUNC) {
        errno = EMSGSIZE;
        return -1;
    }
    return got;
}
