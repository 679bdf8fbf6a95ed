/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/serve/listen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "packer/base/log.h"
#include "packer/system/unix_socket.h"

#define TURN 16 /* connections; further ones have to wait for REST: */
static const struct timeval rest = {.tv_usec = 1000};
static const struct timeval pause_full = {.tv_usec = 200000}; /* where no descriptor is left */

struct listener {
    struct event_base *base;
    struct event *ready; /* a connection has come */
    struct event *again; /* the rest is over */
    int fd, priority;
    mode_t mode;
    struct unix_socket_file file; /* the path's */
    listener_on on;
    void *arg;
    struct log_limit full, unbound;
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
};

/* ---- connections ---- */

static void rest_for(struct listener *listener, const struct timeval *time)
{
    event_del(listener->ready);
    event_add(listener->again, time);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct listener *listener = arg;

    (void)fd, (void)what;
    event_add(listener->ready, NULL);
}

/* The client's fault, or nobody's: the next one may be fine. */
static bool is_passing(int error)
{
    return error == EINTR || error == ECONNABORTED || error == EPERM || error == EPROTO;
}

static void on_connection(evutil_socket_t fd, short what, void *arg)
{
    struct listener *listener = arg;
    int taken = 0, client;

    (void)what;
    for (; taken < TURN; taken++) {
        client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (client >= 0)
            listener->on(client, listener->arg);
        else if (!is_passing(errno))
            break;
    }
    if (taken == TURN) {
        rest_for(listener, &rest);
    } else if (errno != EAGAIN && errno != EWOULDBLOCK) {
        log_limited(&listener->full, LOG_LEVEL_ERROR, "%s: no connection can be taken: %s",
                    listener->path, strerror(errno));
        rest_for(listener, &pause_full);
    }
}

/* ---- the socket ---- */

static bool is_ours(const struct listener *listener)
{
    return unix_socket_is_at(listener->path, &listener->file);
}

/* Waits for connections on the new socket, in place of the old one, if there is any. */
static int take_over(struct listener *listener, int fd, const struct unix_socket_file *file)
{
    struct event *ready =
        event_new(listener->base, fd, EV_READ | EV_PERSIST, on_connection, listener);

    if (ready)
        event_priority_set(ready, listener->priority); /* a loop without priorities has its one */
    if (!ready || event_add(ready, NULL) < 0) {
        if (ready)
            event_free(ready);
        errno = ENOMEM;
        return -1;
    }
    if (listener->ready)
        event_free(listener->ready);
    if (listener->fd >= 0)
        close(listener->fd);
    listener->ready = ready;
    listener->fd = fd;
    listener->file = *file;
    return 0;
}

static int bind_path(struct listener *listener, struct berth_error *err)
{
    struct unix_socket_file file;
    int fd = unix_socket_listen(listener->path, listener->mode, &file, err);

    if (fd < 0)
        return -1;
    if (take_over(listener, fd, &file) == 0)
        return 0;
    berth_error_set(err, "%s: cannot listen: %s", listener->path, strerror(errno));
    close(fd);
    return -1;
}

int listener_open(struct listener **out, struct event_base *base, const char *path, mode_t mode,
                  int priority, listener_on on, void *arg, struct berth_error *err)
{
    struct listener *listener = calloc(1, sizeof(*listener));

    if (!listener)
        return berth_no_memory(err);
    *listener = (struct listener){
        .base = base, .fd = -1, .priority = priority, .mode = mode, .on = on, .arg = arg};
    snprintf(listener->path, sizeof(listener->path), "%s", path);
    listener->again = evtimer_new(base, on_again, listener);
    if (!listener->again) {
        berth_no_memory(err);
    } else if (bind_path(listener, err) == 0) {
        *out = listener;
        return 0;
    }
    listener_close(listener);
    return -1;
}

bool listener_check(struct listener *listener)
{
    struct berth_error err;

    if (is_ours(listener))
        return false;
    if (bind_path(listener, &err) == 0) {
        log_warn("%s was gone: bound anew", listener->path);
        return true;
    }
    log_limited(&listener->unbound, LOG_LEVEL_ERROR, "%s is not our socket any more: %s",
                listener->path, err.text);
    return false;
}

void listener_close(struct listener *listener)
{
    if (!listener)
        return;
    if (listener->ready)
        event_free(listener->ready);
    if (listener->again)
        event_free(listener->again);
    if (listener->fd >= 0) {
        if (is_ours(listener))
            unlink(listener->path);
        close(listener->fd);
    }
    free(listener);
}
