/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/serve/client.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packer/system/unix_socket.h"
#include "packer/wire/wire.h"

/* Bytes that wait to be read: with more nothing further is said, until there are so few again. */
#define OUTPUT_MAX (16 << 10)
#define OUTPUT_LOW (4 << 10)
#define READ_S 1e-5       /* what reading costs, however little there is */
#define LOOK_AGAIN_S 0.02 /* whether the user's other connections were read */
#define PATIENCE_S 10
#define ABANDONED_S 0.02 /* what is paid for an answer that a thread looks for in vain */
#define ROOTS_MAX 1024

struct client {
    LIST_ENTRY(client) link;
    struct clients *all;
    struct bufferevent *bev;
    struct event *turn;        /* to be taken; of users */
    struct rounds_place place; /* among root's that wait for a turn */
    struct event *overdue;     /* the client has not said what it should have said */
    uid_t uid;
    struct budget_account *account; /* NULL: root's */
    struct reply *reply;            /* under way; NULL: none is */
    struct reply *said;             /* it is not known yet whether anybody has read it; or NULL */
    size_t unsent;                  /* bytes, as the account has them */
    double waits_s; /* CLOCK_MONOTONIC: since then it has asked for nothing; 0: it has */
    double line_s;  /* CLOCK_MONOTONIC: since then a user's one stands in line; 0: it does not */
    bool later;     /* the reply is not known yet: no turn is taken until it is, or `overdue` */
    bool partial;   /* a request has begun to come, by `overdue` it is to be whole */
    bool finished;  /* the client has said all it had to say */
};

static void spend(struct client *client, double requests, double cpu_s)
{
    if (client->account)
        budget_spend(&client->all->budget, client->account, requests, cpu_s, clock_s());
}

static void client_close(struct client *client)
{
    struct clients *all = client->all;

    if (client->later)
        spend(client, 0, ABANDONED_S);
    if (client->account) {
        budget_unsent(&all->budget, client->account, client->unsent, 0);
        budget_leave(&all->budget, client->account);
    } else {
        all->roots--;
    }
    LIST_REMOVE(client, link);
    rounds_leave(&all->rounds, &client->place);
    reply_end(client->reply);
    reply_end(client->said);
    if (client->turn)
        event_free(client->turn);
    if (client->overdue)
        event_free(client->overdue);
    if (client->bev)
        bufferevent_free(client->bev);
    free(client);
}

/* ---- what a client may have ---- */

static size_t note_unsent(struct client *client)
{
    size_t now = evbuffer_get_length(bufferevent_get_output(client->bev));

    if (client->account)
        budget_unsent(&client->all->budget, client->account, client->unsent, now);
    return client->unsent = now;
}

static bool has_request(const struct client *client)
{
    struct evbuffer *input = bufferevent_get_input(client->bev);

    return evbuffer_search_eol(input, NULL, NULL, EVBUFFER_EOL_LF).pos >= 0;
}

/* Whether there is something to be said to it. */
static bool is_busy(const struct client *client)
{
    return client->reply || has_request(client);
}

/* Seconds until the client may be served, as far as that is its own user's matter. */
static double wait_s(struct client *client)
{
    struct budget *budget = &client->all->budget;

    if (!client->account)
        return 0;
    if (client->reply && !budget_may_write(budget, client->account))
        return LOOK_AGAIN_S;
    return budget_wait_s(budget, client->account, !client->reply && has_request(client), clock_s());
}

/* ---- turns ---- */

static void go_on(struct client *client);

/* The reply is known now, whatever the client does meanwhile. */
static void on_known(void *arg)
{
    struct client *client = arg;

    if (!client->later)
        return;
    client->later = false;
    go_on(client);
}

/* Reads the next request. Returns false where there is none. */
static bool read_request(struct client *client)
{
    struct evbuffer *input = bufferevent_get_input(client->bev);
    size_t length;
    char *line = evbuffer_readln(input, &length, EVBUFFER_EOL_LF);

    if (!line)
        return false;
    client->partial = false;
    client->reply = reply_open(client->all->packer, client->all->ops, client->uid, line, length);
    free(line);
    spend(client, 1, 0);
    if (!client->reply)
        return false;
    client->reply->payer = client->account ? client->account->uid : client->uid;
    client->reply->wake = on_known;
    client->reply->wake_arg = client;
    return true;
}

/* The reply is said. Who asks again, or hangs up, has read it; an error tells that he has not: the
 * kernel resets a connection that was closed before its answer came, or was read. */
static void finish(struct client *client)
{
    bool matters = reply_matters(client->reply);

    reply_end(client->said);
    client->said = matters ? client->reply : NULL;
    if (!matters)
        reply_end(client->reply);
    client->reply = NULL;
}

static void take_turn(struct client *client)
{
    double began_s = clock_s(), others_s = 0;

    if (client->reply || read_request(client)) {
        enum reply_next next = reply_next(client->reply, bufferevent_get_output(client->bev));

        client->later = next == REPLY_LATER;
        others_s = client->reply->cpu_s;
        client->reply->cpu_s = 0;
        if (next == REPLY_OVER)
            finish(client);
    }
    note_unsent(client);
    spend(client, 0, clock_s() - began_s + others_s);
}

/* Has nothing to say yet, and listens. */
static void wait_for_reply(struct client *client)
{
    if (!event_pending(client->overdue, EV_TIMEOUT, NULL))
        event_add(client->overdue, &client->all->patience);
}

/* Has nothing to answer: waits for the rest of a request, or for the next one. */
static void listen_to(struct client *client)
{
    size_t length = evbuffer_get_length(bufferevent_get_input(client->bev));

    if (length >= WIRE_MESSAGE_MAX) {
        log_limited(&client->all->too_long, LOG_LEVEL_WARN,
                    "uid %u sent a line longer than %d bytes", client->uid, WIRE_MESSAGE_MAX);
        client_close(client);
    } else if (client->finished && client->unsent == 0) {
        client_close(client);
    } else if (length == 0 && client->unsent) {
        event_del(client->overdue); /* it is to read first; bufferevent has the time */
    } else if (!client->partial) {
        client->partial = length > 0;
        client->waits_s = clock_s();
        event_add(client->overdue, &client->all->patience);
    }
}

/* Reads no more while there is room for nothing: libevent would call on_read() again and again. A
 * turn makes room, and reads on. */
static void stop_where_full(struct client *client)
{
    if (evbuffer_get_length(bufferevent_get_input(client->bev)) >= WIRE_MESSAGE_MAX)
        bufferevent_disable(client->bev, EV_READ);
}

/* Who of the users' connections in line has the next turn: whose user has had least, and of equals
 * who has stood there longest. NULL: nobody stands there. */
static struct client *first_in_line(const struct clients *clients)
{
    struct client *client, *first = NULL;
    double least = INFINITY;

    LIST_FOREACH(client, &clients->list, link)
    {
        double had = client->line_s > 0 ? budget_had(&clients->budget, client->account) : INFINITY;

        if (had < least || (first && had <= least && client->line_s < first->line_s)) {
            first = client;
            least = had;
        }
    }
    return first;
}

/* Has `event` come in so many seconds; 0: as soon as others let it. */
static void come_in(struct event *event, double in_s)
{
    struct timeval in = {.tv_sec = (time_t)in_s,
                         .tv_usec = (suseconds_t)((in_s - floor(in_s)) * 1e6)};

    if (in_s > 0)
        event_add(event, &in);
    else
        event_active(event, EV_TIMEOUT, 1);
}

/* Seconds until all users together have time for the next turn of one of them. */
static double common_wait_s(struct clients *clients, const struct client *client)
{
    return budget_wait_s(&clients->budget, NULL, !client->reply, clock_s());
}

/* Stands in line, and reads no more where the line does not move at once. */
static void stand_in_line(struct client *client)
{
    struct clients *all = client->all;
    double in_s = common_wait_s(all, client);

    if (client->line_s <= 0)
        client->line_s = clock_s();
    if (in_s > 0)
        bufferevent_disable(client->bev, EV_READ);
    if (!event_pending(all->users, EV_TIMEOUT, NULL))
        come_in(all->users, in_s);
}

/* Has the client take a turn as soon as others let him. Root's requests are read before, so that it
 * is known for whom they are. */
static void line_up(struct client *client)
{
    struct clients *all = client->all;

    if (client->account) {
        stand_in_line(client);
    } else if (client->reply || read_request(client)) {
        rounds_join(&all->rounds, &client->place, client, reply_is_for(client->reply));
        event_active(all->round, EV_TIMEOUT, 1);
    } else {
        event_active(client->turn, EV_TIMEOUT, 1);
    }
}

/* Sees to it that what is to be done next is done when its time has come. */
static void go_on(struct client *client)
{
    bool busy = is_busy(client);
    double in_s = wait_s(client);

    if (busy)
        stop_where_full(client);
    if (client->later) {
        wait_for_reply(client);
        return;
    }
    if (in_s > 0)
        bufferevent_disable(client->bev, EV_READ);
    if (busy) {
        event_del(client->overdue);
        client->waits_s = 0;
    }
    if (busy && client->unsent >= OUTPUT_MAX)
        return; /* on_written goes on */
    if (in_s > 0)
        come_in(client->turn, in_s);
    else if (busy)
        line_up(client);
    if (!busy)
        listen_to(client);
}

static void serve_turn(struct client *client)
{
    if (!client->later && client->unsent < OUTPUT_MAX && wait_s(client) <= 0) {
        take_turn(client);
        if (!client->finished)
            bufferevent_enable(client->bev, EV_READ);
    }
    go_on(client);
}

/* It has waited for its own budget, or wants to read on. */
static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct client *client = arg;

    (void)fd, (void)what;
    if (client->account && is_busy(client))
        go_on(client);
    else
        serve_turn(client);
}

/* The first of the users' in line is served, and the next one then. */
static void on_users(evutil_socket_t fd, short what, void *arg)
{
    struct clients *all = arg;
    struct client *client = first_in_line(all);

    (void)fd, (void)what;
    if (client && common_wait_s(all, client) <= 0) {
        client->line_s = 0;
        budget_turn(&all->budget, client->account);
        serve_turn(client);
        client = first_in_line(all);
    }
    if (client)
        come_in(all->users, common_wait_s(all, client));
}

/* One of root's is served, and the next one then. */
static void on_round(evutil_socket_t fd, short what, void *arg)
{
    struct clients *all = arg;
    struct client *client = rounds_next(&all->rounds);

    (void)fd, (void)what;
    if (client)
        serve_turn(client);
    if (!TAILQ_EMPTY(&all->rounds.waiting))
        event_active(all->round, EV_TIMEOUT, 1);
}

static void on_overdue(evutil_socket_t fd, short what, void *arg)
{
    struct client *client = arg;

    (void)fd, (void)what;
    if (!client->later) {
        client_close(client);
        return;
    }
    reply_give_up(client->reply);
    spend(client, 0, ABANDONED_S);
    client->later = false;
    go_on(client);
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct client *client = arg;

    (void)bev;
    spend(client, 0, READ_S);
    go_on(client);
}

static void on_written(struct bufferevent *bev, void *arg)
{
    struct client *client = arg;

    (void)bev;
    note_unsent(client);
    go_on(client);
}

/* The peer has hung up, or only finished speaking: then he still gets his answers. An error, or an
 * answer that nobody reads, ends the conversation. */
static void on_event(struct bufferevent *bev, short what, void *arg)
{
    struct client *client = arg;

    (void)bev;
    if (!(what & BEV_EVENT_EOF)) {
        if (client->said)
            reply_unheard(client->said);
        client_close(client);
        return;
    }
    client->finished = true;
    go_on(client);
}

/* ---- connections come ---- */

/* Which of two users' connections is missed less: that of who has more of them, then the one that
 * asks for nothing, and has done so for longer. */
static bool is_missed_less(const struct client *a, const struct client *b)
{
    if (a->account->connections != b->account->connections)
        return a->account->connections > b->account->connections;
    return a->waits_s > 0 && (b->waits_s <= 0 || a->waits_s < b->waits_s);
}

/* Hangs up on the users' connection that is missed least, for one of who has `own`: there is room
 * for all users who want to know something. Returns false where there is none: nobody has more of
 * them than he then would, and all ask for something. */
static bool make_room(struct clients *clients, unsigned own)
{
    struct client *client, *least = NULL;

    LIST_FOREACH(client, &clients->list, link)
    if (client->account && (!least || is_missed_less(client, least)))
        least = client;
    if (!least || (least->account->connections <= own + 1 && least->waits_s <= 0))
        return false;
    client_close(least);
    return true;
}

/* Counts the connection. Returns NULL, or why it cannot be served. */
static const char *admit(struct clients *clients, struct client *client)
{
    struct budget *budget = &clients->budget;
    double now_s = clock_s();
    uid_t uid;

    if (client->uid == 0) {
        if (clients->roots >= ROOTS_MAX)
            return "root has too many connections";
        clients->roots++;
        return NULL;
    }
    subuids_read(&clients->subuids, &clients->packer->world.root);
    uid = subuids_owner(&clients->subuids, client->uid);
    if (budget_connections(budget, uid) >= BUDGET_CONNECTIONS)
        return "this user has too many connections";
    if (budget->all.connections >= BUDGET_CONNECTIONS_ALL &&
        !make_room(clients, budget_connections(budget, uid)))
        return "too many users ask";
    client->account = budget_enter(budget, uid, now_s);
    return NULL;
}

static int serve(struct client *client, int fd)
{
    struct event_base *base = client->all->base;
    int priority = client->uid == 0 ? PRIORITY_ROOT : PRIORITY_USERS;

    client->turn = evtimer_new(base, on_turn, client);
    client->overdue = evtimer_new(base, on_overdue, client);
    if (client->turn && client->overdue)
        client->bev = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!client->bev)
        return -1;
    event_priority_set(client->turn, priority); /* a loop without priorities has its one */
    event_priority_set(client->overdue, priority);
    bufferevent_priority_set(client->bev, priority);
    bufferevent_setcb(client->bev, on_read, on_written, on_event, client);
    bufferevent_set_timeouts(client->bev, NULL, &client->all->patience);
    bufferevent_setwatermark(client->bev, EV_READ, 0, WIRE_MESSAGE_MAX);
    bufferevent_setwatermark(client->bev, EV_WRITE, OUTPUT_LOW, 0);
    bufferevent_enable(client->bev, EV_READ | EV_WRITE);
    listen_to(client);
    return 0;
}

static void refuse(struct clients *clients, int fd, uid_t uid, const char *why)
{
    char line[128];
    int length = snprintf(line, sizeof(line), "{\"version\":%d,\"ok\":false,\"error\":\"%s\"}\n",
                          WIRE_VERSION, why);

    if (send(fd, line, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        shutdown(fd, SHUT_WR);
    close(fd);
    log_limited(&clients->refused, LOG_LEVEL_WARN, "uid %u was turned away: %s", uid, why);
}

void client_open(struct clients *clients, int fd)
{
    struct client *client = calloc(1, sizeof(*client));
    uid_t uid = unix_socket_peer(fd);
    const char *why = "out of memory";

    if (client) {
        client->all = clients;
        client->uid = uid;
        why = admit(clients, client);
    }
    if (why) {
        refuse(clients, fd, uid, why);
        free(client);
        return;
    }
    LIST_INSERT_HEAD(&clients->list, client, link);
    if (serve(client, fd) == 0)
        return;
    client_close(client);
    refuse(clients, fd, uid, "out of memory");
}

int clients_init(struct clients *clients, struct event_base *base, const struct packer *packer,
                 const struct request_op *ops)
{
    *clients = (struct clients){
        .base = base, .packer = packer, .ops = ops, .patience = {.tv_sec = PATIENCE_S}};
    LIST_INIT(&clients->list);
    rounds_init(&clients->rounds);
    budget_init(&clients->budget, clock_s());
    clients->round = evtimer_new(base, on_round, clients);
    clients->users = evtimer_new(base, on_users, clients);
    if (!clients->round || !clients->users) {
        clients_close(clients);
        return -1;
    }
    event_priority_set(clients->round, PRIORITY_ROOT);
    event_priority_set(clients->users, PRIORITY_USERS);
    return 0;
}

void clients_close(struct clients *clients)
{
    while (!LIST_EMPTY(&clients->list))
        client_close(LIST_FIRST(&clients->list));
    subuids_free(&clients->subuids);
    if (clients->round)
        event_free(clients->round);
    if (clients->users)
        event_free(clients->users);
    clients->round = clients->users = NULL;
}
