/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/serve/reply.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/steps/registry.h"
#include "packer/wire/wire.h"

static const struct request_op *op_of(const struct reply *reply)
{
    return &reply->ops[reply->request.op];
}

static int act(struct reply *reply)
{
    const struct request_op *op = op_of(reply);

    if (op->root && reply->uid != 0)
        return berth_error_set(&reply->err, "only root may change anything");
    return op->act ? op->act(reply, &reply->err) : 0;
}

struct reply *reply_open(const struct packer *packer, const struct request_op *ops, uid_t uid,
                         const char *line, size_t length)
{
    struct reply *reply = calloc(1, sizeof(*reply));

    if (!reply)
        return NULL;
    reply->packer = packer;
    reply->ops = ops;
    reply->uid = reply->payer = uid;
    reply->decoded = wire_request_decode(line, length, &reply->request, &reply->err) == 0;
    return reply;
}

uid_t reply_is_for(const struct reply *reply)
{
    const struct wire_request *request = &reply->request;
    const struct step *step = NULL;

    if (!reply->decoded || reply->uid != 0)
        return reply->uid;
    if (request->op == WIRE_OP_REGISTER)
        return request->reg.uid;
    if (request->op == WIRE_OP_END)
        step = registry_find(reply->packer->steps, request->end.id);
    return step ? step->request.uid : reply->uid;
}

/* Lets go of what the operation keeps. */
static void drop_own(struct reply *reply)
{
    if (reply->own_free)
        reply->own_free(reply->own);
    reply->own = NULL;
    reply->own_free = NULL;
}

void reply_end(struct reply *reply)
{
    if (!reply)
        return;
    if (reply->walk.registry)
        step_walk_end(&reply->walk);
    drop_own(reply);
    if (reply->decoded)
        wire_request_clear(&reply->request);
    wire_answer_clear(&reply->answer);
    free(reply);
}

/* ---- lines ---- */

static struct json_object *head(bool ok)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "version", WIRE_VERSION);
    json_add_bool(object, "ok", ok);
    return object;
}

static void say(struct evbuffer *out, struct json_object *object)
{
    size_t length;
    const char *text = json_object_to_json_string_length(object, JSON_C_TO_STRING_PLAIN, &length);

    evbuffer_add(out, text, length);
    evbuffer_add(out, "\n", 1);
    json_object_put(object);
}

static void say_error(struct evbuffer *out, const char *why)
{
    struct json_object *object = head(false);

    json_add_text(object, "error", why);
    say(out, object);
}

static void say_line(struct reply *reply, struct evbuffer *out)
{
    char *line = op_of(reply)->line(reply);

    if (line)
        evbuffer_add(out, line, strlen(line));
    else
        say_error(out, "the answer does not fit a message");
    free(line);
}

/* Returns false when that was the last of them. */
static bool say_part(struct reply *reply, struct evbuffer *out)
{
    struct json_object *object = head(true), *part;
    const char *name = NULL;

    part = op_of(reply)->part(reply, &name);
    json_add_bool(object, "more", name != NULL);
    if (name)
        json_add(object, name, part);
    say(out, object);
    return name != NULL;
}

bool reply_matters(const struct reply *reply)
{
    return !reply->failed && op_of(reply)->unheard;
}

void reply_unheard(struct reply *reply)
{
    op_of(reply)->unheard(reply);
}

void reply_wake(struct reply *reply)
{
    if (reply->wake)
        reply->wake(reply->wake_arg);
}

void reply_give_up(struct reply *reply)
{
    drop_own(reply);
    reply->failed = true;
    berth_error_set(&reply->err, "this takes too long: what it is read from does not answer, or "
                                 "many others ask; try again");
}

static void act_once(struct reply *reply)
{
    reply->begun = true;
    reply->failed = !reply->decoded || act(reply) < 0;
}

enum reply_next reply_next(struct reply *reply, struct evbuffer *out)
{
    const struct request_op *op;

    if (!reply->begun)
        act_once(reply);
    op = reply->failed ? NULL : op_of(reply);
    if (!op)
        say_error(out, reply->err.text);
    else if (op->text)
        return op->text(reply, out) ? REPLY_OVER : REPLY_LATER;
    else if (op->part)
        return say_part(reply, out) ? REPLY_MORE : REPLY_OVER;
    else if (op->line)
        say_line(reply, out);
    else
        say(out, head(true));
    return REPLY_OVER;
}
