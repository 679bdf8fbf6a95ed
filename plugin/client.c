/* SPDX-License-Identifier: GPL-2.0-or-later */
/* client - see client.h.
 *
 * It runs inside slurmstepd while a step waits to start: nothing may block, no signal may be raised
 * (a server that went away must not give SIGPIPE) and no descriptor may leak into the user's
 * program. */
#include "client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define RETRY_MS 1 /* between two attempts to connect to a server whose backlog is full */

struct client {
    int fd;
    int64_t until_ms; /* CLOCK_MONOTONIC */
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Wait for events on fd (-1: for nothing) at most max_ms, never past the deadline. 0, or -1 with
 * errno ETIMEDOUT when it is reached. */
static int client_wait(const struct client *client, int fd, short events, int64_t max_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};
    int64_t left = client->until_ms - now_ms();

    if (left <= 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    if (poll(&poll_fd, 1, (int)(left < max_ms ? left : max_ms)) < 0 && errno != EINTR)
        return -1;
    return 0;
}

/* Connect without blocking. EAGAIN: the backlog of a Unix socket is full, which poll cannot wait
 * for. */
static int client_connect(struct client *client, const char *path)
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
        if ((errno != EAGAIN && errno != EINTR) || client_wait(client, -1, 0, RETRY_MS) < 0)
            return -1;
    return 0;
}

/* Is it root, or who we are, that listens there? */
static int client_check_peer(const struct client *client)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return -1;
    if (peer.uid != 0 && peer.uid != geteuid()) {
        errno = EPERM;
        return -1;
    }
    return 0;
}

static int client_send(const struct client *client, const char *line)
{
    size_t left = strlen(line);

    while (left > 0) {
        ssize_t sent = send(client->fd, line, left, MSG_NOSIGNAL);

        if (sent >= 0) {
            line += sent;
            left -= (size_t)sent;
        } else if (errno != EINTR &&
                   (errno != EAGAIN || client_wait(client, client->fd, POLLOUT, INT32_MAX) < 0)) {
            return -1;
        }
    }
    return 0;
}

/* Read up to the newline into line[WIRE_MESSAGE_MAX]. Length, or -1 with errno (EPIPE: closed
 * before the newline). */
static ssize_t client_read(const struct client *client, char *line)
{
    size_t used = 0;

    while (used < WIRE_MESSAGE_MAX) {
        ssize_t got = recv(client->fd, line + used, WIRE_MESSAGE_MAX - used, 0);
        const char *end;

        if (got > 0) {
            end = memchr(line + used, '\n', (size_t)got);
            used += (size_t)got;
            if (end)
                return end - line;
        } else if (got == 0) {
            errno = EPIPE;
            return -1;
        } else if (errno != EINTR &&
                   (errno != EAGAIN || client_wait(client, client->fd, POLLIN, INT32_MAX) < 0)) {
            return -1;
        }
    }
    errno = EMSGSIZE;
    return -1;
}

/* Read and decode the answer. */
static int client_receive(const struct client *client, struct wire_answer *answer,
                          struct berth_error *err)
{
    char *line = malloc(WIRE_MESSAGE_MAX);
    ssize_t length = line ? client_read(client, line) : -1;
    struct berth_error why = {""};
    int rc;

    if (length < 0)
        rc = berth_error_set(err, "no answer: %s",
                             errno == EPIPE ? "closed the connection" : strerror(errno));
    else if ((rc = wire_answer_decode(line, (size_t)length, answer, &why)) < 0)
        berth_error_set(err, "its answer is wrong: %s", why.text);
    free(line);
    return rc;
}

/* Everything between the encoded request and the answer. */
static enum client_result client_talk(struct client *client, const char *path, const char *line,
                                      struct wire_answer *answer, struct berth_error *err)
{
    if (client_connect(client, path) < 0) {
        berth_error_set(err, "no packer at %s: %s", path, strerror(errno));
        return CLIENT_UNREACHED;
    }
    if (client_check_peer(client) < 0) {
        berth_error_set(err, "who listens at %s is not trusted: %s", path, strerror(errno));
        return CLIENT_UNREACHED;
    }
    if (client_send(client, line) < 0) {
        berth_error_set(err, "packer takes no request: %s", strerror(errno));
        return CLIENT_UNREACHED;
    }
    return client_receive(client, answer, err) < 0 ? CLIENT_UNHEARD : CLIENT_ANSWERED;
}

enum client_result client_ask(const char *path, unsigned deadline_ms,
                              const struct wire_request *request, struct wire_answer *answer,
                              struct berth_error *err)
{
    struct client client = {.fd = -1, .until_ms = now_ms() + deadline_ms};
    enum client_result result = CLIENT_UNREACHED;
    char *line = wire_request_encode(request);

    memset(answer, 0, sizeof(*answer));
    if (line)
        result = client_talk(&client, path, line, answer, err);
    else
        berth_error_set(err, "request cannot be sent: %s", strerror(errno));
    if (client.fd >= 0)
        close(client.fd);
    free(line);
    return result;
}
