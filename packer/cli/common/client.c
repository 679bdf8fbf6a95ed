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

/* Takes over one line into the answer. 1 more follow, 0 that was the last, -1 and err. */
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

/* Reads lines into the answer until the last one. 0, or -1 and err. */
static int gather_all(struct wire_client *client, struct json_object *answer, const char *path,
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
        more = gather(answer, line, err);
        json_object_put(line);
    }
    return more;
}

static int ask(const char *path, const char *question, struct json_object *answer,
               struct berth_error *err)
{
    struct wire_client *client = wire_client_open(path, DEADLINE_S);
    int rc = -1;

    if (!client)
        berth_error_set(err, "no answer at %s: %s (is berthd running? berthctl doctor)", path,
                        strerror(errno));
    else if (wire_client_send(client, question) < 0)
        berth_error_set(err, "no answer at %s: %s", path, strerror(errno));
    else
        rc = gather_all(client, answer, path, err);
    wire_client_close(client);
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
