/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/serve/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "packer/hand/ask.h"
#include "packer/serve/client.h"
#include "packer/serve/listen.h"
#include "packer/wire/wire.h"

struct server {
    struct clients clients;
    struct listener *everybody, *plugin; /* plugin: NULL where its name would be too long, or: */
    struct event *door; /* berth-hand gives the plugin's connections; NULL: there is none */
};

struct event_base *server_loop(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (!config)
        return NULL;
    /* After each event those that are more urgent are looked for. A timer is to the microsecond:
     * who wakes too early wakes twice. */
    if (event_config_set_max_dispatch_interval(config, NULL, 1, 0) == 0 &&
        event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0 &&
        event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME) == 0)
        base = event_base_new_with_config(config);
    event_config_free(config);
    if (base && event_base_priority_init(base, PRIORITIES) < 0) {
        event_base_free(base);
        return NULL;
    }
    return base;
}

static void on_connection(int fd, void *arg)
{
    client_open(&((struct server *)arg)->clients, fd);
}

static void on_door(int fd, short what, void *arg)
{
    int client = hand_take_connection();

    (void)fd, (void)what;
    if (client >= 0)
        client_open(&((struct server *)arg)->clients, client);
}

static int wait_at_door(struct server *server, struct berth_error *err)
{
    server->door = event_new(server->clients.base, HAND_FD_FIRST + HAND_LINK_DOOR,
                             EV_READ | EV_PERSIST, on_door, server);
    if (!server->door)
        return berth_no_memory(err);
    event_priority_set(server->door, PRIORITY_ROOT);
    return event_add(server->door, NULL) == 0 ? 0 : berth_no_memory(err);
}

/* Everybody may connect to the one: what he may do is decided by his uid. To the other one only
 * root may, so that users' connections never stand before the plugin's. */
static int listen_at(struct server *server, const char *path, struct berth_error *err)
{
    char plugin[sizeof(server->clients.packer->world.conf.socket) + sizeof(WIRE_PLUGIN_SUFFIX)];
    struct event_base *base = server->clients.base;

    snprintf(plugin, sizeof(plugin), "%s" WIRE_PLUGIN_SUFFIX, path);
    if (listener_open(&server->everybody, base, path, 0666, PRIORITY_SELF, on_connection, server,
                      err) < 0)
        return -1;
    if (hand_is_apart())
        return wait_at_door(server, err);
    if (strlen(plugin) >= sizeof(((struct sockaddr_un *)NULL)->sun_path)) {
        log_warn("%s: too long for a socket of root's own beside it", path);
        return 0;
    }
    return listener_open(&server->plugin, base, plugin, 0600, PRIORITY_ROOT, on_connection, server,
                         err);
}

int server_open(struct server **out, struct event_base *base, const struct packer *packer,
                const struct request_op *ops, struct berth_error *err)
{
    struct server *server = calloc(1, sizeof(*server));

    if (!server)
        return berth_no_memory(err);
    if (clients_init(&server->clients, base, packer, ops) < 0) {
        free(server);
        return berth_no_memory(err);
    }
    if (listen_at(server, packer->world.conf.socket, err) == 0) {
        *out = server;
        return 0;
    }
    server_close(server);
    return -1;
}

bool server_check(struct server *server)
{
    bool everybody = listener_check(server->everybody);
    bool plugin = server->plugin && listener_check(server->plugin);

    return everybody || plugin;
}

void server_close(struct server *server)
{
    clients_close(&server->clients);
    if (server->door)
        event_free(server->door);
    listener_close(server->plugin);
    listener_close(server->everybody);
    free(server);
}
