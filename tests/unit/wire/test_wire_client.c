/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_wire_client - a server that is busy, slow, trickles, ends too soon or never answers, and a
 * client that signals interrupt all the while. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/base/clock.h"
#include "packer/wire/wire.h"
#include "packer/wire/wire_client.h"
#include "tests/unit/common/folder.h"

#define FILLERS 64

struct server {
    char folder[64], path[96];
    int listener, filler[FILLERS];
    size_t fillers;
    size_t lines; /* to read before it answers */
    const char *answer;
    size_t heard;      /* bytes */
    unsigned pause_us; /* before it accepts, and between its bytes */
    pthread_t thread;
};

static void server_open(struct server *server, int backlog)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    *server = (struct server){.lines = 1};
    folder_new(server->folder, sizeof(server->folder), "berth-wire");
    snprintf(server->path, sizeof(server->path), "%s/sock", server->folder);
    strcpy(address.sun_path, server->path);
    server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(server->listener, backlog), 0);
}

static void server_close(struct server *server)
{
    while (server->fillers > 0)
        close(server->filler[--server->fillers]);
    close(server->listener);
    unlink(server->path);
    rmdir(server->folder);
}

/* Connects until the backlog is full. */
static void fill_backlog(struct server *server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int rc;

    strcpy(address.sun_path, server->path);
    do {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        rc = connect(fd, (struct sockaddr *)&address, sizeof(address));
        server->filler[server->fillers++] = fd;
    } while (rc == 0 && server->fillers < FILLERS);
    assert_int_equal(rc, -1);
    assert_int_equal(errno, EAGAIN);
}

/* Answers: byte by byte, if it has pauses. */
static void give(const struct server *server, int fd)
{
    size_t left = strlen(server->answer), block = server->pause_us ? 1 : left;
    ssize_t sent = 0;

    for (const char *c = server->answer; left > 0; c += sent, left -= (size_t)sent) {
        sent = send(fd, c, block < left ? block : left, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        usleep(server->pause_us / 100);
    }
}

/* Reads the lines of one connection, slowly, and answers. */
static void serve(struct server *server, int fd)
{
    char block[4096];
    size_t newlines = 0;
    ssize_t got;

    while (newlines < server->lines && (got = read(fd, block, sizeof(block))) > 0) {
        server->heard += (size_t)got;
        for (ssize_t i = 0; i < got; i++)
            newlines += block[i] == '\n';
        usleep(server->pause_us / 100);
    }
    if (newlines > 0 && server->answer)
        give(server, fd);
    close(fd);
}

static void *run_server(void *arg)
{
    struct server *server = arg;
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    usleep(server->pause_us);
    for (size_t i = 0; i + 1 < server->fillers; i++) /* the last one was refused */
        close(accept(server->listener, NULL, NULL));
    serve(server, accept(server->listener, NULL, NULL));
    return NULL;
}

static void server_start(struct server *server)
{
    assert_int_equal(pthread_create(&server->thread, NULL, run_server, server), 0);
}

/* ---- signals that no SA_RESTART hides ---- */

static volatile sig_atomic_t signals;

static void on_alarm(int number)
{
    (void)number;
    signals++;
}

static void set_alarms(suseconds_t every_us)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval timer = {.it_interval.tv_usec = every_us, .it_value.tv_usec = every_us};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- the tests ---- */

static void test_answers(void **state)
{
    struct wire_client *client;
    struct server server;
    const char *line;

    (void)state;
    server_open(&server, 8);
    server.answer = "{\"a\":1}\n\n{\"b\":2}\nhalf";
    server_start(&server);
    client = wire_client_open(server.path, 60);
    assert_non_null(client);
    assert_int_equal(wire_client_check_peer(client), 0);
    assert_int_equal(wire_client_send(client, "hello\n"), 0);
    assert_int_equal(wire_client_receive(client, &line), 7);
    assert_memory_equal(line, "{\"a\":1}\n", 8);
    assert_int_equal(wire_client_receive(client, &line), 0);
    assert_int_equal(wire_client_receive(client, &line), 7);
    assert_memory_equal(line, "{\"b\":2}\n", 8);
    assert_int_equal(wire_client_receive(client, &line), -1);
    assert_int_equal(errno, ECONNRESET);
    wire_client_close(client);
    pthread_join(server.thread, NULL);
    server_close(&server);
}

/* A backlog that is full is waited for, whatever interrupts the wait, and not beyond the deadline.
 */
static void test_busy(void **state)
{
    struct wire_client *client;
    struct server server;
    const char *line;
    double begin_s;

    (void)state;
    server_open(&server, 0);
    fill_backlog(&server);
    begin_s = clock_s();
    assert_null(wire_client_open(server.path, 0.05));
    assert_int_equal(errno, ETIMEDOUT);
    assert_true(clock_s() - begin_s >= 0.05);
    server.pause_us = 200000;
    server.answer = "ready\n";
    server_start(&server);
    set_alarms(1000);
    client = wire_client_open(server.path, 20);
    assert_non_null(client);
    assert_true(clock_s() - begin_s >= 0.2);
    assert_int_equal(wire_client_send(client, "hello\n"), 0);
    assert_int_equal(wire_client_receive(client, &line), 5);
    set_alarms(0);
    assert_true(signals > 0);
    wire_client_close(client);
    pthread_join(server.thread, NULL);
    server_close(&server);
}

/* A line that does not fit into the socket's buffer, taken slowly, while signals come. */
static void test_interrupted(void **state)
{
    size_t length = 4 * 1024 * 1024;
    char *text = malloc(length + 1);
    struct wire_client *client;
    struct server server;
    const char *line;

    (void)state;
    assert_non_null(text);
    memset(text, 'x', length);
    strcpy(text + length - 1, "\n");
    server_open(&server, 8);
    server.pause_us = 10000;
    server.answer = "ready\n";
    server_start(&server);
    signals = 0;
    set_alarms(500);
    client = wire_client_open(server.path, 60);
    assert_non_null(client);
    assert_int_equal(wire_client_send(client, text), 0);
    assert_int_equal(wire_client_receive(client, &line), 5);
    set_alarms(0);
    assert_true(signals > 0);
    wire_client_close(client);
    pthread_join(server.thread, NULL);
    assert_int_equal(server.heard, length);
    server_close(&server);
    free(text);
}

/* A client that has said hello before its patience was over; those before it wait for nobody. */
static struct wire_client *hello_in_time(const struct server *server)
{
    for (double patience_s = 0.05;; patience_s *= 2) {
        struct wire_client *client = wire_client_open(server->path, patience_s);

        assert_non_null(client);
        if (wire_client_send(client, "hello\n") == 0)
            return client;
        wire_client_close(client);
        close(accept(server->listener, NULL, NULL));
    }
}

static void test_no_answer(void **state)
{
    char *text = malloc(WIRE_MESSAGE_MAX + 2);
    struct wire_client *client;
    struct server server;
    const char *line;

    (void)state;
    server_open(&server, 8);
    client = hello_in_time(&server); /* nobody accepts it */
    assert_int_equal(wire_client_receive(client, &line), -1);
    assert_int_equal(errno, ETIMEDOUT);
    close(accept(server.listener, NULL, NULL));
    assert_int_equal(wire_client_send(client, "hello\n"), -1); /* and no SIGPIPE */
    assert_int_equal(errno, EPIPE);
    wire_client_close(client);
    assert_non_null(text);
    memset(text, 'x', WIRE_MESSAGE_MAX + 1);
    text[WIRE_MESSAGE_MAX + 1] = '\0';
    server.answer = text;
    server_start(&server);
    client = wire_client_open(server.path, 60);
    assert_int_equal(wire_client_send(client, "hello\n"), 0);
    assert_int_equal(wire_client_receive(client, &line), -1);
    assert_int_equal(errno, EMSGSIZE);
    wire_client_close(client);
    pthread_join(server.thread, NULL);
    server_close(&server);
    free(text);
}

static void test_nobody(void **state)
{
    char path[200];

    (void)state;
    assert_null(wire_client_open("/nowhere/sock", 1));
    assert_int_equal(errno, ENOENT);
    memset(path, 'x', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    assert_null(wire_client_open(path, 1));
    assert_int_equal(errno, ENAMETOOLONG);
    wire_client_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),     cmocka_unit_test(test_busy),
        cmocka_unit_test(test_interrupted), cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_nobody),
    };

    signal(SIGPIPE, SIG_DFL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
