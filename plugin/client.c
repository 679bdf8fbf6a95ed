/* SPDX-License-Identifier: GPL-2.0-or-later */
/* client - see client.h */
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/wire/wire_client.h"

/* Reads and decodes the answer. */
static int receive(struct wire_client *wire, struct wire_answer *answer, struct berth_error *err)
{
    const char *line;
    ssize_t length = wire_client_receive(wire, &line);
    struct berth_error why;

    if (length < 0)
        return berth_error_set(err, "no answer: %s",
                               errno == ECONNRESET ? "closed the connection" : strerror(errno));
    if (wire_answer_decode(line, (size_t)length, answer, &why) < 0)
        return berth_error_set(err, "its answer is wrong: %.400s", why.text);
    return 0;
}

/* Does all between the encoded request and the answer. */
static enum client_result talk(struct wire_client *wire, const char *path, const char *line,
                               struct wire_answer *answer, struct berth_error *err)
{
    if (!wire)
        berth_error_set(err, "no berthd at %s: %s", path, strerror(errno));
    else if (wire_client_check_peer(wire) < 0)
        berth_error_set(err, "who listens at %s is not trusted: %s", path, strerror(errno));
    else if (wire_client_send(wire, line) < 0)
        berth_error_set(err, "berthd takes no request: %s", strerror(errno));
    else
        return receive(wire, answer, err) < 0 ? CLIENT_UNHEARD : CLIENT_ANSWERED;
    return CLIENT_UNREACHED;
}

/* Connects to root's own socket beside the path, where no user's connection comes first. An older
 * berthd has only the one at the path, and so has one whose path is too long for two. */
static struct wire_client *connect_to(const char *path, unsigned deadline_ms)
{
    char plugin[PATH_MAX];
    struct wire_client *wire;

    snprintf(plugin, sizeof(plugin), "%s" WIRE_PLUGIN_SUFFIX, path);
    wire = wire_client_open(plugin, deadline_ms / 1e3);
    if (wire || errno == ETIMEDOUT)
        return wire;
    return wire_client_open(path, deadline_ms / 1e3);
}

enum client_result client_ask(const char *path, unsigned deadline_ms,
                              const struct wire_request *request, struct wire_answer *answer,
                              struct berth_error *err)
{
    char *line = wire_request_encode(request);
    enum client_result result = CLIENT_UNREACHED;
    struct wire_client *wire;

    memset(answer, 0, sizeof(*answer));
    if (!line) {
        berth_error_set(err, "request cannot be sent: %s", strerror(errno));
        return result;
    }
    wire = connect_to(path, deadline_ms);
    result = talk(wire, path, line, answer, err);
    wire_client_close(wire);
    free(line);
    return result;
}
