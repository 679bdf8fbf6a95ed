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

#include "packer/daemon/reply.h"
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
    struct reply *reply; /* under way; NULL: none is */
    bool finished;       /* it has said all it had to say */
};

/* ---- connections ---- */

static void client_close(struct client *client)
{
    client->server->clients--;
    LIST_REMOVE(client, link);
    bufferevent_free(client->bev);
    reply_end(client->reply);
    free(client);
}

static size_t unsent(struct bufferevent *bev)
{
    return evbuffer_get_length(bufferevent_get_output(bev));
}

/* Begins the answer to the next request. Returns false where none has come. */
static bool begin(struct client *client)
{
    struct evbuffer *input = bufferevent_get_input(client->bev);
    size_t length;
    char *line = evbuffer_readln(input, &length, EVBUFFER_EOL_LF);

    if (!line)
        return false;
    client->reply = reply_begin(client->server->packer, client->peer.uid, line, length);
    free(line);
    return client->reply;
}

/* Something has come, or all has gone: answer what is there, as long as the answers are read. */
static void on_ready(struct bufferevent *bev, void *arg)
{
    struct evbuffer *input = bufferevent_get_input(bev);
    struct client *client = arg;

    while (unsent(bev) < OUTPUT_MAX && (client->reply || begin(client))) {
        if (reply_next(client->reply, bufferevent_get_output(bev)))
            continue;
        reply_end(client->reply);
        client->reply = NULL;
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
