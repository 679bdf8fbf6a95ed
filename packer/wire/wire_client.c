/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_client - see wire_client.h.
 *
 * It also runs inside slurmstepd while a step waits to start: nothing may block, no signal may be
 * raised (a server that went away must not give SIGPIPE) and no descriptor may leak into the user's
 * program. */
#include "packer/wire/wire_client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/wire/wire.h"

#define FOREVER_S 1e6 /* the deadline is sooner */
#define RETRY_S 0.001 /* between two attempts to connect to a server whose backlog is full */

struct wire_client {
    int fd;
    double until_s; /* by mono_s */
    size_t used;    /* bytes in buffer */
    size_t taken;   /* of them the line that was returned last */
    char buffer[WIRE_MESSAGE_MAX];
};

/* Waits for events (0: for nothing) for max_s at most. 0, or -1 with errno: ETIMEDOUT when the
 * deadline is reached. A signal ends the wait early. */
static int await(const struct wire_client *client, short events, double max_s)
{
    struct pollfd fd = {.fd = events ? client->fd : -1, .events = events};
    double left_s = client->until_s - clock_s();
    int ms = (int)((left_s < max_s ? left_s : max_s) * 1e3 + 0.999);

    if (left_s <= 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    return poll(&fd, 1, ms) < 0 && errno != EINTR ? -1 : 0;
}

/* Says whether what failed with errno is to be tried again, after a wait where there is nothing to
 * do yet. */
static bool again(const struct wire_client *client, short events)
{
    return errno == EINTR || (errno == EAGAIN && await(client, events, FOREVER_S) == 0);
}

/* EAGAIN: the backlog of a Unix socket is full, which poll cannot wait for. */
static int open_socket(struct wire_client *client, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client->fd < 0)
        return -1;
    while (connect(client->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        if ((errno != EAGAIN && errno != EINTR) || await(client, 0, RETRY_S) < 0)
            return -1;
    return 0;
}

struct wire_client *wire_client_open(const char *path, double deadline_s)
{
    struct wire_client *client = malloc(sizeof(*client));
    int saved;

    if (!client)
        return NULL;
    client->fd = -1;
    client->until_s = clock_s() + deadline_s;
    client->used = client->taken = 0;
    if (open_socket(client, path) == 0)
        return client;
    saved = errno;
    wire_client_close(client);
    errno = saved;
    return NULL;
}

void wire_client_close(struct wire_client *client)
{
    if (!client)
        return;
    if (client->fd >= 0)
        close(client->fd);
    free(client);
}

int wire_client_check_peer(const struct wire_client *client)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return -1;
    if (peer.uid == 0 || peer.uid == geteuid())
        return 0;
    errno = EPERM;
    return -1;
}

int wire_client_send(struct wire_client *client, const char *line)
{
    size_t left = strlen(line);

    while (left > 0) {
        ssize_t sent = send(client->fd, line, left, MSG_NOSIGNAL);

        if (sent < 0 && !again(client, POLLOUT))
            return -1;
        line += sent > 0 ? sent : 0;
        left -= sent > 0 ? (size_t)sent : 0;
    }
    return 0;
}

/* Reads once into the buffer's room. 0, or -1 with errno. */
static int read_more(struct wire_client *client)
{
    size_t room = sizeof(client->buffer) - client->used;
    ssize_t got = recv(client->fd, client->buffer + client->used, room, 0);

    if (got < 0)
        return again(client, POLLIN) ? 0 : -1;
    client->used += (size_t)got;
    errno = room == 0 ? EMSGSIZE : ECONNRESET;
    return got > 0 ? 0 : -1;
}

ssize_t wire_client_receive(struct wire_client *client, const char **line)
{
    char *newline;

    client->used -= client->taken;
    memmove(client->buffer, client->buffer + client->taken, client->used);
    client->taken = 0;
    while (!(newline = memchr(client->buffer, '\n', client->used)))
        if (read_more(client) < 0)
            return -1;
    client->taken = (size_t)(newline - client->buffer) + 1;
    *line = client->buffer;
    return newline - client->buffer;
}
