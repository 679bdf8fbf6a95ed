/* SPDX-License-Identifier: GPL-2.0-or-later */
/* client - one question to berthd, all its answer lines, one deadline over everything: a hung
 * berthd must not hang the person who wants to know why. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/wire/wire_client.h"

#define DEADLINE_S 2

/* ---- lines ---- */

/* Gives lines to `take` until the last one. 0, or -1 and err. */
static int take_all(struct wire_client *client, const char *path, ctl_take *take, void *arg,
                    struct berth_error *err)
{
    int more = 1;

    while (more == 1) {
        const char *text;
        ssize_t length = wire_client_receive(client, &text);
        struct json_object *line;

        if (length < 0)
            return berth_error_set(err, "no whole answer at %s: %s", path, strerror(errno));
        line = json_parse(text, (size_t)length, err);
        if (!line)
            return -1;
        more = take(line, arg, err);
        json_object_put(line);
    }
    return more;
}

int ctl_ask_lines(const char *socket, const struct wire_request *request, double deadline_s,
                  ctl_take *take, void *arg, struct berth_error *err)
{
    char *question = wire_request_encode(request);
    struct wire_client *client;
    int rc = -1;

    if (!question)
        return berth_error_set(err, "%s", strerror(errno));
    client = wire_client_open(socket, deadline_s);
    if (!client)
        berth_error_set(err, "no answer at %s: %s" CTL_ASK_DOCTOR, socket,
                        strerror(errno));
    else if (wire_client_send(client, question) < 0)
        berth_error_set(err, "no answer at %s: %s", socket, strerror(errno));
    else
        rc = take_all(client, socket, take, arg, err);
    free(question);
    wire_client_close(client);
    return rc;
}

/* ---- the node and its steps ---- */

/* Takes over one line into the answer. */
static int gather(struct json_object *line, void *arg, struct berth_error *err)
{
    struct json_object *node = ctl_object(line, "node"), *step = ctl_object(line, "step");
    struct json_object *sample = ctl_object(line, "sample"), *answer = arg;

    if (!ctl_true(line, "ok"))
        return berth_error_set(err, "%.400s", ctl_text(line, "error"));
    if (node)
        json_add(answer, "node", json_object_get(node));
    if (step)
        json_append(ctl_object(answer, "steps"), json_object_get(step));
    if (sample && !ctl_object(answer, "samples"))
        json_add(answer, "samples", json_object_new_array());
    if (sample)
        json_append(ctl_object(answer, "samples"), json_object_get(sample));
    return ctl_true(line, "more");
}

struct json_object *ctl_ask(const char *socket, const struct wire_request *request,
                            struct berth_error *err)
{
    struct json_object *answer;
    struct conf conf;

    if (!socket && ctl_conf(NULL, &conf, err) < 0)
        return NULL;
    answer = json_object_new_object();
    json_add(answer, "node", NULL); /* first, for the reader of --json */
    json_add(answer, "steps", json_object_new_array());
    if (ctl_ask_lines(socket ? socket : conf.socket, request, DEADLINE_S, gather, answer, err) == 0)
        return answer;
    json_object_put(answer);
    return NULL;
}
