/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostile - a user who is up to no good at berthd's socket, for a bounded time and then no more:
 *
 *     hostile SOCKET UID MODE CONNECTIONS SECONDS [JOB]
 *
 *     status   each connection asks for the status without a pause, and reads the answers
 *     explain  the same with explanations of the job
 *     records  the same with records of the ledger
 *     deaf     asks for explanations, and reads nothing
 *     idle     says nothing
 *     drip     says a byte every second, and never a whole request
 *     storm    connects and hangs up
 *
 * A connection that is closed is opened anew. It gives up root before it begins. The last line
 * tells how often it connected, and how many bytes it read. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "enum_table.h"

#define CONNECTIONS_MAX 6000
#define SECONDS_MAX 120
#define OFTEN 100 /* requests that are sent at once */

enum mode { STATUS, EXPLAIN, RECORDS, DEAF, IDLE, DRIP, STORM, MODES };
static const char *const TABLE(mode_name, MODES) = {
    ROW(STATUS) = "status", ROW(EXPLAIN) = "explain", ROW(RECORDS) = "records", ROW(DEAF) = "deaf",
    ROW(IDLE) = "idle",     ROW(DRIP) = "drip",       ROW(STORM) = "storm",
};
TABLE_COMPLETE(mode_name);

struct hostile {
    struct sockaddr_un address;
    enum mode mode;
    size_t n;
    struct pollfd fd[CONNECTIONS_MAX];
    char *say; /* OFTEN requests */
    size_t length, sent[CONNECTIONS_MAX];
    double next_drip_s;
    unsigned long connects, refused, bytes;
};

static void die(const char *what)
{
    fprintf(stderr, "hostile: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void become(uid_t uid)
{
    struct rlimit files = {CONNECTIONS_MAX + 100, CONNECTIONS_MAX + 100};

    if (setrlimit(RLIMIT_NOFILE, &files) < 0)
        die("descriptors");
    if (uid == 0 || setgroups(0, NULL) < 0 || setgid(uid) < 0 || setuid(uid) < 0)
        die("uid");
}

static void open_connection(struct hostile *hostile, size_t i)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        die("socket");
    hostile->fd[i] = (struct pollfd){.fd = fd, .events = POLLIN};
    hostile->sent[i] = 0;
    if (connect(fd, (const struct sockaddr *)&hostile->address, sizeof(hostile->address)) == 0) {
        hostile->connects++;
        if (hostile->mode < IDLE)
            hostile->fd[i].events = (short)(hostile->mode == DEAF ? POLLOUT : POLLIN | POLLOUT);
        return;
    }
    hostile->refused++; /* the backlog is full */
    close(fd);
    hostile->fd[i].fd = -1;
}

static void say_more(struct hostile *hostile, size_t i)
{
    ssize_t sent = send(hostile->fd[i].fd, hostile->say + hostile->sent[i],
                        hostile->length - hostile->sent[i], MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent > 0)
        hostile->sent[i] = (hostile->sent[i] + (size_t)sent) % hostile->length;
}

/* Returns false when the server has hung up. */
static bool hear(struct hostile *hostile, size_t i)
{
    static char buffer[1 << 18];
    ssize_t got = recv(hostile->fd[i].fd, buffer, sizeof(buffer), MSG_DONTWAIT);

    hostile->bytes += got > 0 ? (unsigned long)got : 0;
    return got > 0 || (got < 0 && errno == EAGAIN);
}

static void serve(struct hostile *hostile, size_t i)
{
    struct pollfd *fd = &hostile->fd[i];

    if (fd->fd < 0) {
        open_connection(hostile, i);
        return;
    }
    if (fd->revents & POLLOUT)
        say_more(hostile, i);
    if (hostile->mode == STORM || (fd->revents & (POLLERR | POLLNVAL)) ||
        ((fd->revents & (POLLIN | POLLHUP)) && !hear(hostile, i))) {
        close(fd->fd);
        fd->fd = -1;
    }
}

static void drip(struct hostile *hostile)
{
    if (hostile->mode != DRIP || clock_s() < hostile->next_drip_s)
        return;
    hostile->next_drip_s = clock_s() + 1;
    for (size_t i = 0; i < hostile->n; i++)
        if (hostile->fd[i].fd >= 0 && send(hostile->fd[i].fd, " ", 1, MSG_NOSIGNAL) < 0)
            hostile->fd[i].revents = POLLERR;
}

static void run(struct hostile *hostile, double seconds)
{
    double until_s = clock_s() + seconds;

    for (size_t i = 0; i < hostile->n; i++)
        hostile->fd[i].fd = -1;
    while (clock_s() < until_s) {
        for (size_t i = 0; i < hostile->n; i++)
            serve(hostile, i);
        drip(hostile);
        poll(hostile->fd, hostile->n, hostile->mode == STORM ? 0 : 10);
    }
}

/* What is said, OFTEN times in a row. */
static void write_requests(struct hostile *hostile, unsigned job)
{
    char request[128];
    size_t length;

    if (hostile->mode == STATUS)
        snprintf(request, sizeof(request), "{\"version\":1,\"op\":\"status\"}\n");
    else if (hostile->mode == RECORDS)
        snprintf(request, sizeof(request), "{\"version\":1,\"op\":\"records\"}\n");
    else
        snprintf(request, sizeof(request), "{\"version\":1,\"op\":\"explain\",\"job\":%u}\n", job);
    length = strlen(request);
    hostile->length = length * OFTEN;
    hostile->say = malloc(hostile->length + 1);
    if (!hostile->say)
        die("memory");
    for (size_t i = 0; i < OFTEN; i++)
        memcpy(hostile->say + i * length, request, length + 1);
}

int main(int argc, char **argv)
{
    static struct hostile hostile = {.address = {.sun_family = AF_UNIX}, .mode = MODES};
    double seconds = argc > 5 ? strtod(argv[5], NULL) : 0;

    for (enum mode mode = 0; argc > 3 && mode < MODES; mode++)
        if (strcmp(argv[3], mode_name[mode]) == 0)
            hostile.mode = mode;
    hostile.n = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    if (hostile.mode == MODES || hostile.n < 1 || hostile.n > CONNECTIONS_MAX || !(seconds > 0) ||
        seconds > SECONDS_MAX || strlen(argv[1]) >= sizeof(hostile.address.sun_path)) {
        fputs("usage: hostile SOCKET UID status|explain|records|deaf|idle|drip|storm CONNECTIONS "
              "SECONDS "
              "[JOB]\n",
              stderr);
        return 2;
    }
    strcpy(hostile.address.sun_path, argv[1]);
    write_requests(&hostile, argc > 6 ? (unsigned)strtoul(argv[6], NULL, 10) : 1);
    become((uid_t)strtoul(argv[2], NULL, 10));
    run(&hostile, seconds);
    printf("%s: %lu connections, %lu refused, %lu bytes\n", mode_name[hostile.mode],
           hostile.connects, hostile.refused, hostile.bytes);
    free(hostile.say);
    return 0;
}
