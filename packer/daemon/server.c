/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server - see server.h */
#include "packer/daemon/server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/daemon/pipeline.h"
#include "packer/daemon/render.h"
#include "packer/daemon/render_sample.h"
#include "packer/system/unix_socket.h"
#include "packer/wire/wire.h"

#define IDLE_TIMEOUT_S 10
/* Bytes of answers that may wait for a client: with more, berthd reads no further request of it. */
#define OUTPUT_MAX (256 << 10)
#define CLIENTS_MAX 1024
#define CLIENTS_MAX_USERS 256 /* so that users cannot keep root's plugin out */

struct server {
    struct packer *packer;
    struct evconnlistener *listener;
    LIST_HEAD(, client) client;
    size_t clients;
};

struct client {
    LIST_ENTRY(client) link;
    struct server *server;
    struct bufferevent *bev;
    struct ucred peer;
    bool finished; /* it has said all it had to say */
};

/* ---- answers ---- */

static void send_object(struct bufferevent *bev, struct json_object *object)
{
    evbuffer_add_printf(bufferevent_get_output(bev), "%s\n",
                        json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    json_object_put(object);
}

static struct json_object *head(bool ok)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "version", WIRE_VERSION);
    json_add_bool(object, "ok", ok);
    return object;
}

static void send_error(struct bufferevent *bev, const char *why)
{
    struct json_object *object = head(false);

    json_add_text(object, "error", why);
    send_object(bev, object);
}

/* One of several lines, and the last of them. */
static void send_part(struct bufferevent *bev, const char *key, struct json_object *part)
{
    struct json_object *object = head(true);

    json_add_bool(object, "more", true);
    json_object_object_add(object, key, part);
    send_object(bev, object);
}

static void send_last(struct bufferevent *bev)
{
    struct json_object *object = head(true);

    json_add_bool(object, "more", false);
    send_object(bev, object);
}

static void send_answer(struct bufferevent *bev, struct wire_answer *answer)
{
    char *line = wire_answer_encode(answer);

    if (line)
        bufferevent_write(bev, line, strlen(line));
    else
        send_error(bev, "the answer does not fit a message");
    free(line);
    wire_answer_clear(answer);
}

/* ---- requests ---- */

static bool may_see(const struct client *client, const struct step *step)
{
    return client->peer.uid == 0 || client->peer.uid == step->request.uid;
}

static void on_status(struct client *client, struct bufferevent *bev)
{
    struct packer *packer = client->server->packer;
    struct step *step;

    send_part(bev, "node", render_node_to(packer, client->peer.uid));
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (may_see(client, step))
        send_part(bev, "step", render_step(packer, step));
    send_last(bev);
}

static bool is_asked(struct wire_step_id asked, const struct step *step)
{
    return step->request.id.job == asked.job &&
           (asked.step == UINT32_MAX || step->request.id.step == asked.step);
}

static void on_explain(struct client *client, struct bufferevent *bev, struct wire_step_id asked)
{
    struct packer *packer = client->server->packer;
    struct step *step;

    send_part(bev, "node", render_node_to(packer, client->peer.uid));
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (is_asked(asked, step) && may_see(client, step))
        send_part(bev, "step", render_explanation(packer, step, client->peer.uid));
    TAILQ_FOREACH(step, &packer->steps.ended, link)
    if (is_asked(asked, step) && may_see(client, step))
        send_part(bev, "step", render_explanation(packer, step, client->peer.uid));
    send_last(bev);
}

/* Only root makes counters be read; others are told what the last window ended with. */
static void on_counters(struct client *client, struct bufferevent *bev)
{
    struct packer *packer = client->server->packer;
    struct step *step;

    send_part(bev, "node", render_node(packer));
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (may_see(client, step))
        send_part(bev, "sample", render_sample(packer, step, client->peer.uid == 0));
    send_last(bev);
}

static void on_register(struct client *client, struct bufferevent *bev, struct wire_register *reg)
{
    struct wire_answer answer;

    pipeline_start(client->server->packer, reg, &answer);
    send_answer(bev, &answer);
}

/* The answer tells what has become of each step that was named. */
static void on_release(struct client *client, struct bufferevent *bev,
                       const struct wire_release *release)
{
    struct packer *packer = client->server->packer;
    struct berth_error err;
    struct step *step;
    int rc =
        release->end ? pipeline_manage(packer, &err) : pipeline_release(packer, release->id, &err);

    if (rc < 0) {
        send_error(bev, err.text);
        return;
    }
    send_part(bev, "node", render_node(packer));
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (!release->end && step->released && step_is_named(step, release->id))
        send_part(bev, "step", render_step(packer, step));
    send_last(bev);
}

static void dispatch(struct client *client, struct bufferevent *bev, struct wire_request *request)
{
    bool reads = request->op == WIRE_OP_STATUS || request->op == WIRE_OP_EXPLAIN ||
                 request->op == WIRE_OP_COUNTERS;

    if (!reads && client->peer.uid != 0) {
        send_error(bev, "only root may change anything");
        return;
    }
    switch (request->op) {
    case WIRE_OP_REGISTER:
        on_register(client, bev, &request->reg);
        return;
    case WIRE_OP_END:
        pipeline_end(client->server->packer, &request->end);
        break;
    case WIRE_OP_JOB_END:
        pipeline_job_end(client->server->packer, request->id.job);
        break;
    case WIRE_OP_RELEASE:
        on_release(client, bev, &request->release);
        return;
    case WIRE_OP_STATUS:
        on_status(client, bev);
        return;
    case WIRE_OP_COUNTERS:
        on_counters(client, bev);
        return;
    default:
        on_explain(client, bev, request->id);
        return;
    }
    send_object(bev, head(true));
}

/* ---- connections ---- */

static void client_close(struct client *client)
{
    client->server->clients--;
    LIST_REMOVE(client, link);
    bufferevent_free(client->bev);
    free(client);
}

static void on_line(struct client *client, struct bufferevent *bev, const char *line, size_t length)
{
    struct wire_request request;
    struct berth_error err;

    if (wire_request_decode(line, length, &request, &err) < 0) {
        send_error(bev, err.text);
        return;
    }
    dispatch(client, bev, &request);
    wire_request_clear(&request);
}

static size_t unsent(struct bufferevent *bev)
{
    return evbuffer_get_length(bufferevent_get_output(bev));
}

/* Something has come, or all has gone: answer what is there, as long as the answers are read. */
static void on_ready(struct bufferevent *bev, void *arg)
{
    struct evbuffer *input = bufferevent_get_input(bev);
    struct client *client = arg;
    size_t length;
    char *line;

    while (unsent(bev) < OUTPUT_MAX && (line = evbuffer_readln(input, &length, EVBUFFER_EOL_LF))) {
        on_line(client, bev, line, length);
        free(line);
    }
    if (unsent(bev) >= OUTPUT_MAX)
        return;
    if (evbuffer_get_length(input) >= WIRE_MESSAGE_MAX) {
        log_warn("uid %u sent a line longer than %d bytes", client->peer.uid, WIRE_MESSAGE_MAX);
        client_close(client);
    } else if (client->finished && unsent(bev) == 0) {
        client_close(client);
    }
}

/* The peer has hung up, or only finished speaking: then he still gets his answers. An error, or
 * silence for too long, ends the conversation. */
static void on_event(struct bufferevent *bev, short what, void *arg)
{
    struct client *client = arg;

    if (!(what & BEV_EVENT_EOF)) {
        client_close(client);
        return;
    }
    client->finished = true;
    on_ready(bev, client);
}

/* A client that cannot be served is closed: the plugin then fails open. */
static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int address_length, void *arg)
{
    const struct timeval idle = {.tv_sec = IDLE_TIMEOUT_S};
    struct server *server = arg;
    struct client *client = calloc(1, sizeof(*client));
    socklen_t length = sizeof(client->peer);
    struct bufferevent *bev = NULL;

    (void)address, (void)address_length;
    if (client && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &client->peer, &length) == 0 &&
        server->clients < (client->peer.uid == 0 ? CLIENTS_MAX : CLIENTS_MAX_USERS))
        bev = bufferevent_socket_new(evconnlistener_get_base(listener), fd, BEV_OPT_CLOSE_ON_FREE);
    if (!bev) {
        log_warn("a client was turned away (%zu are served)", server->clients);
        evutil_closesocket(fd);
        free(client);
        return;
    }
    client->server = server;
    client->bev = bev;
    server->clients++;
    LIST_INSERT_HEAD(&server->client, client, link);
    bufferevent_setcb(bev, on_ready, on_ready, on_event, client);
    bufferevent_set_timeouts(bev, &idle, &idle);
    bufferevent_setwatermark(bev, EV_READ, 0, WIRE_MESSAGE_MAX);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
}

/* ---- the socket ---- */

/* Everybody may connect: what he may do is decided by his uid. */
int server_open(struct server **out, struct event_base *base, struct packer *packer,
                struct berth_error *err)
{
    struct server *server = calloc(1, sizeof(*server));
    int fd = server ? unix_socket_bind(packer->conf.socket, 0666, err) : berth_no_memory(err);

    if (fd < 0) {
        free(server);
        return -1;
    }
    server->packer = packer;
    LIST_INIT(&server->client);
    server->listener = evconnlistener_new(base, on_accept, server,
                                          LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 128, fd);
    if (!server->listener) {
        close(fd);
        free(server);
        return berth_error_set(err, "%s: cannot listen", packer->conf.socket);
    }
    *out = server;
    return 0;
}

void server_close(struct server *server)
{
    while (!LIST_EMPTY(&server->client))
        client_close(LIST_FIRST(&server->client));
    evconnlistener_free(server->listener);
    unlink(server->packer->conf.socket);
    free(server);
}
