/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http - see http.h
 *
 * evhttp knows no limit for its connections. So each one's bufferevent, which evhttp asks for when
 * it has accepted one, is made and held here, too: when evhttp is done with it, it has taken its
 * callbacks off. */
#include "packer/metrics/http.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packer/metrics/listen.h"
#include "packer/metrics/node.h"

#define HEADERS_MAX 8192
#define BODY_MAX 4096
#define BACKLOG 512
#define PAGE_AGE_S 1

/* How often the clients are looked after, and how often when all places are taken. */
static const struct timeval look = {.tv_usec = 200000}, look_crowded = {.tv_usec = 20000};

struct page {
    char *text;
    size_t length;
    double made_s;
};

struct client {
    struct bufferevent *bev; /* NULL: free */
    double since_s;
};

struct metrics_http {
    const struct packer *packer;
    struct evhttp *http;
    struct evconnlistener *listener; /* evhttp's */
    struct event *watch;             /* of the clients, while there are some */
    struct client client[METRICS_HTTP_CLIENTS];
    struct page page[METRICS_FORMATS];
    bool with_steps;
    char path[108]; /* of a Unix socket; "" none */
};

/* ---- clients ---- */

static bool is_over(const struct client *client)
{
    bufferevent_event_cb on_event = NULL;

    bufferevent_getcb(client->bev, NULL, NULL, &on_event, NULL);
    return !on_event;
}

/* Hangs up on who has had his time. evhttp sees it, and cleans up. */
static void hang_up(struct metrics_http *http, double life_s)
{
    double now_s = clock_s();

    for (size_t i = 0; i < METRICS_HTTP_CLIENTS; i++)
        if (http->client[i].bev && now_s - http->client[i].since_s > life_s)
            shutdown(bufferevent_getfd(http->client[i].bev), SHUT_RDWR);
}

/* Forgets who is gone. Returns how many are left. */
static size_t count(struct metrics_http *http)
{
    size_t n = 0;

    for (size_t i = 0; i < METRICS_HTTP_CLIENTS; i++) {
        struct client *client = &http->client[i];

        if (client->bev && is_over(client)) {
            bufferevent_decref(client->bev);
            client->bev = NULL;
        }
        n += client->bev != NULL;
    }
    return n;
}

static size_t look_after(struct metrics_http *http)
{
    size_t n = count(http);

    hang_up(http, n == METRICS_HTTP_CLIENTS ? METRICS_HTTP_CROWDED_S : METRICS_HTTP_LIFE_S);
    return n;
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
    struct metrics_http *http = arg;
    size_t n = look_after(http);

    (void)fd, (void)what;
    if (n < METRICS_HTTP_CLIENTS)
        evconnlistener_enable(http->listener);
    if (n)
        event_add(http->watch, n < METRICS_HTTP_CLIENTS ? &look : &look_crowded);
}

/* evhttp has accepted a client, and wants a bufferevent for him. */
static struct bufferevent *on_client(struct event_base *base, void *arg)
{
    struct bufferevent *bev = bufferevent_socket_new(base, -1, 0);
    struct metrics_http *http = arg;
    size_t n = look_after(http);

    for (size_t i = 0; bev && i < METRICS_HTTP_CLIENTS; i++) {
        if (http->client[i].bev)
            continue;
        bufferevent_incref(bev);
        http->client[i] = (struct client){bev, clock_s()};
        n++;
        break;
    }
    if (n >= METRICS_HTTP_CLIENTS)
        evconnlistener_disable(http->listener);
    event_add(http->watch, n < METRICS_HTTP_CLIENTS ? &look : &look_crowded);
    return bev;
}

/* ---- answers ---- */

static const struct page *get_page(struct metrics_http *http, enum metrics_format format)
{
    struct page *page = &http->page[format];
    double now_s = clock_s();

    if (page->text && now_s - page->made_s < PAGE_AGE_S)
        return page;
    free(page->text);
    page->made_s = now_s;
    page->text = metrics_page(http->packer, format, http->with_steps, &page->length);
    return page->text ? page : NULL;
}

static void send_answer(struct evhttp_request *req, int code, const char *type, const char *text,
                        size_t length)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(req);
    struct evbuffer *body = evhttp_request_get_output_buffer(req);
    char number[24];

    snprintf(number, sizeof(number), "%zu", length);
    evhttp_add_header(headers, "Content-Type", type);
    evhttp_add_header(headers, "Content-Length", number);
    evhttp_add_header(headers, "Connection", "close");
    if (code == 405)
        evhttp_add_header(headers, "Allow", "GET, HEAD");
    if (evhttp_request_get_command(req) != EVHTTP_REQ_HEAD)
        evbuffer_add(body, text, length);
    evhttp_send_reply(req, code, NULL, NULL); /* with the usual reason */
}

static void say(struct evhttp_request *req, int code, const char *text)
{
    send_answer(req, code, "text/plain; charset=utf-8", text, strlen(text));
}

/* Is the request meant for this node? A page of somebody else's, in a browser that runs here, can
 * have a name of his lead to the loopback interface (DNS rebinding), and read what it is answered;
 * the name is in the request. Who has no name for it is no browser. */
static bool is_meant(const struct metrics_http *http, struct evhttp_request *req)
{
    const char *host = http->path[0] ? NULL : evhttp_request_get_host(req);
    struct in_addr v4;

    return !host || host[0] == '[' || strcasecmp(host, "localhost") == 0 ||
           inet_pton(AF_INET, host, &v4) == 1;
}

static void on_request(struct evhttp_request *req, void *arg)
{
    static const char front[] =
        "<!DOCTYPE html><title>berth</title><a href=\"/metrics\">metrics</a>\n";
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
    const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
    enum evhttp_cmd_type command = evhttp_request_get_command(req);
    struct evkeyvalq *headers = evhttp_request_get_input_headers(req);
    enum metrics_format format = metrics_negotiate(evhttp_find_header(headers, "Accept"));
    const struct page *page;

    if (command != EVHTTP_REQ_GET && command != EVHTTP_REQ_HEAD) {
        say(req, 405, "only GET and HEAD\n");
    } else if (!is_meant(arg, req)) {
        say(req, 421, "ask localhost, or an address\n");
    } else if (path && strcmp(path, "/") == 0) {
        send_answer(req, 200, "text/html; charset=utf-8", front, sizeof(front) - 1);
    } else if (!path || strcmp(path, "/metrics") != 0) {
        say(req, 404, "there is only /metrics\n");
    } else if ((page = get_page(arg, format))) {
        send_answer(req, 200, metrics_content_type[format], page->text, page->length);
    } else {
        say(req, 503, "out of memory\n");
    }
}

/* ---- open and close ---- */

static void set_up(struct metrics_http *http)
{
    evhttp_set_max_headers_size(http->http, HEADERS_MAX);
    evhttp_set_max_body_size(http->http, BODY_MAX);
    evhttp_set_timeout(http->http, METRICS_HTTP_LIFE_S);
    evhttp_set_allowed_methods(http->http, 0xffff); /* the others get their 405 here */
    evhttp_set_bevcb(http->http, on_client, http);
    evhttp_set_gencb(http->http, on_request, http);
}

static int start(struct metrics_http *http, struct event_base *base, int fd)
{
    http->http = evhttp_new(base);
    http->watch = evtimer_new(base, on_watch, http);
    http->listener = evconnlistener_new(base, NULL, NULL,
                                        LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, BACKLOG, fd);
    if (!http->listener) {
        close(fd);
        return -1;
    }
    if (!http->http || !http->watch || !evhttp_bind_listener(http->http, http->listener)) {
        evconnlistener_free(http->listener);
        return -1;
    }
    set_up(http);
    return 0;
}

int metrics_http_open(struct metrics_http **out, struct event_base *base,
                      const struct packer *packer, struct berth_error *err)
{
    struct metrics_address address;
    struct metrics_readers readers;
    struct metrics_http *http;
    int fd;

    *out = NULL;
    if (metrics_address(packer->world.conf.metrics, &address, err) < 0)
        return -1;
    if (address.where == METRICS_OFF)
        return 0;
    if (metrics_readers(&packer->world.conf, &readers, err) < 0)
        return -1;
    fd = metrics_listen(&address, &packer->world.conf, err);
    if (fd < 0)
        return -1;
    http = calloc(1, sizeof(*http));
    if (!http) {
        close(fd);
        return berth_no_memory(err);
    }
    http->packer = packer;
    http->with_steps = address.where == METRICS_UNIX || readers.everybody;
    if (address.where == METRICS_UNIX)
        snprintf(http->path, sizeof(http->path), "%s",
                 packer->world.conf.metrics + strlen("unix:"));
    *out = http;
    if (start(http, base, fd) == 0)
        return 0;
    metrics_http_close(http);
    *out = NULL;
    return berth_error_set(err, "%s: cannot listen", packer->world.conf.metrics);
}

void metrics_http_close(struct metrics_http *http)
{
    if (!http)
        return;
    if (http->http)
        evhttp_free(http->http);
    for (size_t i = 0; i < METRICS_HTTP_CLIENTS; i++)
        if (http->client[i].bev)
            bufferevent_decref(http->client[i].bev);
    if (http->watch)
        event_free(http->watch);
    if (http->path[0])
        unlink(http->path);
    for (enum metrics_format format = 0; format < METRICS_FORMATS; format++)
        free(http->page[format].text);
    free(http);
}

unsigned metrics_http_port(const struct metrics_http *http)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);

    if (http->path[0] || getsockname(evconnlistener_get_fd(http->listener),
                                     (struct sockaddr *)&address, &length) < 0)
        return 0;
    return ntohs(address.ss_family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port
                                              : ((struct sockaddr_in6 *)&address)->sin6_port);
}
