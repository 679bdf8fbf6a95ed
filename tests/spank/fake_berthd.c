/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fake_berthd - see fake_berthd.h */
#include "tests/spank/fake_berthd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534

static void sleep_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

/* Read one line and append it to the record in one write. */
static size_t take_line(const struct fake_berthd *fake, int fd, char *line, size_t size)
{
    size_t used = 0;
    int record;

    while (used < size && read(fd, line + used, 1) == 1)
        if (line[used++] == '\n')
            break;
    record = open(fake->record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (record < 0 || write(record, line, used) != (ssize_t)used)
        _exit(3);
    close(record);
    return used;
}

static void say(int fd, const char *text)
{
    if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
        return;
}

static void answer(const struct fake_berthd *fake, int fd, const char *line, size_t length)
{
    struct wire_request request;

    if (wire_request_decode(line, length, &request, NULL) < 0)
        say(fd, "{\"version\":1,\"ok\":false,\"error\":\"undecodable\"}\n");
    else if (request.op != WIRE_OP_REGISTER)
        say(fd, "{\"version\":1,\"ok\":true}\n");
    else
        say(fd, fake->answer);
}

/* Misbehave on a connection whose request was read. */
static void behave(const struct fake_berthd *fake, int fd, const char *line, size_t length)
{
    switch (fake->way) {
    case FAKE_HUNG:
        return;
    case FAKE_CLOSES:
        say(fd, "{\"version\":1,\"ok\":tr");
        break;
    case FAKE_GARBAGE:
        say(fd, "\x01\xff garbage, not JSON\n");
        break;
    case FAKE_TRUNCATED:
        say(fd, "{\"version\":1,\"ok\":true,\"tasks\":[[0,\n");
        break;
    case FAKE_ENDLESS:
        for (int i = 0; i < 2 * WIRE_MESSAGE_MAX / 16; i++)
            say(fd, "                ");
        break;
    case FAKE_TRICKLE:
        while (send(fd, " ", 1, MSG_NOSIGNAL) == 1)
            sleep_ms(5);
        break;
    default:
        answer(fake, fd, line, length);
    }
    close(fd);
}

static void serve(const struct fake_berthd *fake, int listener)
{
    static char line[WIRE_MESSAGE_MAX];

    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0)
            _exit(4);
        if (fake->way == FAKE_SLAMS)
            close(fd);
        else
            behave(fake, fd, line, take_line(fake, fd, line, sizeof(line)));
    }
}

static int bind_socket(const struct fake_berthd *fake)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, fake->socket);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        abort();
    return fd;
}

/* Fill a backlog of none: one connection that nobody takes. */
static int fill_backlog(const struct fake_berthd *fake)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, fake->socket);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        abort();
    return fd;
}

/* Listen as who the peer shall see, then serve. */
static void child(const struct fake_berthd *fake, int listener, int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fake->way == FAKE_STRANGER &&
        (chown(fake->dir, NOBODY, NOBODY) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
         setresuid(NOBODY, NOBODY, NOBODY) < 0))
        _exit(5);
    if (listen(listener, fake->way == FAKE_DEAF ? 0 : 16) < 0)
        _exit(6);
    close(ready);
    if (fake->way == FAKE_DEAF)
        for (;;)
            pause();
    serve(fake, listener);
}

void fake_start(struct fake_berthd *fake, enum fake_way way, const char *text)
{
    int listener, ready[2];
    char byte;

    *fake = (struct fake_berthd){.way = way, .answer = text, .filler = -1, .pid = -1};
    strcpy(fake->dir, "/tmp/berth-spank-XXXXXX");
    if (!mkdtemp(fake->dir) || pipe2(ready, O_CLOEXEC) < 0)
        abort();
    snprintf(fake->socket, sizeof(fake->socket), "%s/berthd.sock", fake->dir);
    snprintf(fake->record, sizeof(fake->record), "%s/record", fake->dir);
    if (way != FAKE_ABSENT) {
        listener = bind_socket(fake);
        if (way != FAKE_DEAD && (fake->pid = fork()) == 0) {
            close(ready[0]);
            child(fake, listener, ready[1]);
        }
        close(listener);
    }
    close(ready[1]);
    while (read(ready[0], &byte, 1) > 0)
        ;
    close(ready[0]);
    if (way == FAKE_DEAF)
        fake->filler = fill_backlog(fake);
}

static void remove_entry(const struct fake_berthd *fake, const char *name)
{
    char path[160];

    snprintf(path, sizeof(path), "%s/%s", fake->dir, name);
    remove(path);
}

void fake_stop(struct fake_berthd *fake)
{
    if (fake->pid > 0) {
        kill(fake->pid, SIGKILL);
        waitpid(fake->pid, NULL, 0);
    }
    if (fake->filler >= 0)
        close(fake->filler);
    remove_entry(fake, "berthd.sock");
    remove_entry(fake, "record");
    remove_entry(fake, WIRE_MISSED_FILE);
    remove_entry(fake, "pool/4711");
    remove_entry(fake, "pool");
    if (rmdir(fake->dir) < 0)
        perror(fake->dir);
}

void fake_mark_job(const struct fake_berthd *fake, uint32_t job)
{
    char name[16];

    snprintf(name, sizeof(name), "%u", job);
    fake_mark(fake, name);
}

void fake_mark(const struct fake_berthd *fake, const char *name)
{
    char path[160];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", fake->dir, WIRE_POOL_DIR);
    mkdir(path, 0755);
    snprintf(path, sizeof(path), "%s/%s/%s", fake->dir, WIRE_POOL_DIR, name);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        abort();
    close(fd);
}

/* Decode what has come so far. */
static size_t read_record(const struct fake_berthd *fake, struct wire_request *request, size_t max)
{
    static char line[WIRE_MESSAGE_MAX];
    FILE *record = fopen(fake->record, "re");
    size_t n = 0;

    while (record && fgets(line, sizeof(line), record)) {
        if (n < max && wire_request_decode(line, strlen(line), &request[n], NULL) < 0) {
            fprintf(stderr, "no request: %s", line);
            abort();
        }
        n++;
    }
    if (record)
        fclose(record);
    return n;
}

size_t fake_requests(const struct fake_berthd *fake, size_t n, struct wire_request *request,
                     size_t max)
{
    size_t got = 0;

    memset(request, 0, max * sizeof(*request));
    for (int tries = 0; tries < 500; tries++) {
        for (size_t i = 0; i < max && i < got; i++)
            wire_request_clear(&request[i]);
        got = read_record(fake, request, max);
        if (got >= n)
            break;
        sleep_ms(10);
    }
    return got;
}
