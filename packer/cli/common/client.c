/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_client - one question to berthd, all its answer lines, one deadline over everything: a hung
 * berthd must not hang the person who wants to know why. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"

#define DEADLINE_S 2.0

struct client {
    int fd;
    double deadline_s; /* of mono_s */
    size_t length;     /* bytes in buffer */
    char buffer[WIRE_MESSAGE_MAX];
};

/* Wait for the socket. 0, or -1 with errno ETIMEDOUT. */
static int await(struct client *client, short events)
{
    struct pollfd fd = {.fd = client->fd, .events = events};
    double left_s = client->deadline_s - mono_s();
    int ready;

    do
        ready = poll(&fd, 1, left_s > 0 ? (int)(left_s * 1e3) + 1 : 0);
    while (ready < 0 && errno == EINTR && (left_s = client->deadline_s - mono_s()) > 0);
    if (ready == 0)
        errno = ETIMEDOUT;
    return ready > 0 ? 0 : -1;
}

static int client_open(struct client *client, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    client->deadline_s = mono_s() + DEADLINE_S;
    client->length = 0;
    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (client->fd < 0)
        return -1;
    if (connect(client->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return 0;
    close(client->fd);
    return -1;
}

static int client_send(struct client *client, const char *line)
{
    size_t length = strlen(line);

    while (length > 0) {
        ssize_t sent = send(client->fd, line, length, MSG_NOSIGNAL);

        if (sent < 0 && errno == EAGAIN && await(client, POLLOUT) == 0)
            continue;
        if (sent < 0)
            return -1;
        line += sent;
        length -= (size_t)sent;
    }
    return 0;
}

/* Fill the buffer until it holds a whole line; *line_length is the line's, with its newline. 0 or
 * -1. */
static int client_receive(struct client *client, size_t *line_length)
{
    char *newline;

    while (!(newline = memchr(client->buffer, '\n', client->length))) {
        size_t room = sizeof(client->buffer) - client->length;
        ssize_t got;

        if (room == 0) {
            errno = EMSGSIZE;
            return -1;
        }
        if (await(client, POLLIN) < 0)
            return -1;
        got = recv(client->fd, client->buffer + client->length, room, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got == 0)
            errno = ECONNRESET;
        if (got <= 0)
            return -1;
        client->length += (size_t)got;
    }
    *line_length = (size_t)(newline - client->buffer) + 1;
    return 0;
}

/* Take over one line into the answer. 1 more follow, 0 that was the last, -1 and err. */
static int gather(struct json_object *answer, struct json_object *line, struct berth_error *err)
{
    struct json_object *node = ctl_object(line, "node"), *step = ctl_object(line, "step");
    struct json_object *sample = ctl_object(line, "sample");

    if (!ctl_true(line, "ok"))
        return berth_error_set(err, "%.400s", ctl_text(line, "error"));
    if (node)
        json_object_object_add(answer, "node", json_object_get(node));
    if (step)
        json_object_array_add(ctl_object(answer, "steps"), json_object_get(step));
    if (sample && !ctl_object(answer, "samples"))
        json_object_object_add(answer, "samples", json_object_new_array());
    if (sample)
        json_object_array_add(ctl_object(answer, "samples"), json_object_get(sample));
    return ctl_true(line, "more");
}

/* Read lines into the answer until the last one. 0, or -1 and err. */
static int client_gather(struct client *client, struct json_object *answer, const char *path,
                         struct berth_error *err)
{
    int more = 1;

    while (more == 1) {
        struct json_object *line;
        size_t length;

        if (client_receive(client, &length) < 0)
            return berth_error_set(err, "no whole answer at %s: %s", path, strerror(errno));
        line = json_parse(client->buffer, length, err);
        if (!line)
            return -1;
        more = gather(answer, line, err);
        json_object_put(line);
        client->length -= length;
        memmove(client->buffer, client->buffer + length, client->length);
    }
    return more;
}

static int ask(const char *path, const char *question, struct json_object *answer,
               struct berth_error *err)
{
    struct client *client = malloc(sizeof(*client));
    int rc = -1;

    if (!client)
        return berth_error_set(err, "out of memory");
    if (client_open(client, path) < 0) {
        berth_error_set(err, "no answer at %s: %s (is berthd running? berthctl doctor)", path,
                        strerror(errno));
        goto out;
    }
    if (client_send(client, question) < 0)
        berth_error_set(err, "no answer at %s: %s", path, strerror(errno));
    else
        rc = client_gather(client, answer, path, err);
    close(client->fd);
out:
    free(client);
    return rc;
}

struct json_object *ctl_ask(const char *socket, const struct wire_request *request,
                            struct berth_error *err)
{
    struct json_object *answer;
    struct conf conf;
    char *question;
    int rc;

    if (!socket && ctl_conf(NULL, &conf, err) < 0)
        return NULL;
    question = wire_request_encode(request);
    if (!question) {
        berth_error_set(err, "%s", strerror(errno));
        return NULL;
    }
    answer = json_object_new_object();
    json_object_object_add(answer, "node", NULL); /* first, for the reader of --json */
    json_object_object_add(answer, "steps", json_object_new_array());
    rc = ask(socket ? socket : conf.socket, question, answer, err);
    free(question);
    if (rc == 0)
        return answer;
    json_object_put(answer);
    return NULL;
}
