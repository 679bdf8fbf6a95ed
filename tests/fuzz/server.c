/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of the server: the bytes of several clients, root and users, in any order, in pieces,
 * half-closed and cut, while steps come and go. Whatever they say, the steps and the pool stay
 * sound, users change nothing, are answered in whole lines, and hear of their own jobs only.
 *
 * The input is a program: an operation and a client's number, and what the operation needs. Clients
 * are socket pairs whose uid is the target's word (__wrap_getsockopt). */
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packer/daemon/requests.h"
#include "packer/serve/client.h"
#include "packer/serve/server.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/common/fixture.h"

#define CLIENTS 6
#define USERS 3
#define FIRST_USER 1001 /* whose job has the same number */
#define JOBS 4
#define OPERATIONS 200
#define ANSWER_MAX (1 << 18)

enum { CONNECT, SAY, SAY_PART, RAW, FINISH, CLOSE, TURN, READ, KINDS };

/* An operation is two bytes: kind and client, and a number. RAW takes that many bytes more. */
static const char *const seeds[] = {
    /* root registers two steps, a user asks for the status and is answered, root ends one */
    "\x01\x04\x11\x01\x11\x02\x61\x05\x02\x01\x12\x10\x62\x05\x72\x01\x11\x0a\x61\x05",
    /* a user says a part of a line, another one nonsense, root ends the job in between */
    "\x01\x04\x11\x01\x02\x01\x22\x15\x61\x03\x03\x02\x33\x06{"
    "\"ver\n\x61\x02\x11\x0d\x61\x04\x42\x01",
    /* a user's explain, half-closed; the job ends while it is read */
    "\x01\x04\x11\x01\x61\x03\x02\x01\x12\x15\x42\x01\x61\x01\x11\x0d\x61\x01\x72\x01",
    "\x01\x04\x11\x01\x11\x41\x11\x1d\x61\x05\x51\x01", NULL};

struct peer {
    int fd; /* -1: there is none */
    uid_t uid;
    char *got; /* what it has read */
    size_t length;
};

static struct {
    struct fixture *f;
    struct event_base *base;
    struct clients clients;
    struct peer peer[CLIENTS];
    uid_t next_uid;
    bool root_raw; /* root has said what the input wanted: of whom a job is, nobody knows */
    bool root;     /* root has said anything */
} stand;

int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *length);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
    int rc = __real_getsockopt(fd, level, name, value, length);

    if (rc == 0 && level == SOL_SOCKET && name == SO_PEERCRED)
        ((struct ucred *)value)->uid = stand.next_uid;
    return rc;
}

static void close_stand(void)
{
    event_base_free(stand.base);
    fixture_close(stand.f);
}

static void open_stand(void)
{
    signal(SIGPIPE, SIG_IGN); /* as berthd does */
    stand.f = fixture_open(TWO_BY_TWO);
    fixture_paper(stand.f);
    stand.base = server_loop();
    fuzz_assert(stand.base);
    atexit(close_stand);
}

/* ---- what always holds ---- */

static void assert_steps(const struct packer *packer)
{
    bool taken[CPUS_MAX] = {false};
    const struct step *step;
    size_t n = 0;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        fuzz_assert(step->body.ntasks > 0 && step->body.ntasks == step->request.ntasks);
        n++;
    }
    fuzz_assert(n == packer->steps->nlive && (n == 0 || stand.root));
    for (size_t i = 0; i < packer->pool->cores; i++) {
        if (!pool_has(packer->state->pool, i))
            continue;
        fuzz_assert(pool_has(packer->state->pool, packer->pool->stand[i]));
        fuzz_assert(!taken[packer->pool->stand[i]]);
        taken[packer->pool->stand[i]] = true;
    }
}

static void turn(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        event_base_loop(stand.base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
    assert_steps(&stand.f->packer);
}

/* What a user has been told: lines, each an answer, and none of another user's job. */
static void assert_heard(const struct peer *peer)
{
    char other[32], *line = peer->got, *end;

    for (; line && (end = memchr(line, '\n', peer->length - (size_t)(line - peer->got)));
         line = end + 1)
        fuzz_assert(strncmp(line, "{\"version\":", 11) == 0 && end[-1] == '}');
    if (peer->uid == 0 || stand.root_raw)
        return;
    for (uid_t uid = FIRST_USER; uid < FIRST_USER + JOBS; uid++) {
        snprintf(other, sizeof(other), "\"job\":%u,", uid);
        fuzz_assert(uid == peer->uid || !peer->got || !strstr(peer->got, other));
    }
}

/* ---- the clients' side ---- */

static void hear(struct peer *peer)
{
    char text[4096];
    ssize_t got;

    while (peer->length < ANSWER_MAX &&
           (got = recv(peer->fd, text, sizeof(text), MSG_DONTWAIT)) > 0) {
        peer->got = realloc(peer->got, peer->length + (size_t)got + 1);
        fuzz_assert(peer->got);
        memcpy(peer->got + peer->length, text, (size_t)got);
        peer->length += (size_t)got;
        peer->got[peer->length] = '\0';
    }
}

static void hang_up(struct peer *peer)
{
    if (peer->fd < 0)
        return;
    hear(peer);
    assert_heard(peer);
    close(peer->fd);
    free(peer->got);
    *peer = (struct peer){.fd = -1};
}

static void dial(struct peer *peer, unsigned who)
{
    int pair[2];

    hang_up(peer);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
        return;
    peer->fd = pair[0];
    peer->uid = stand.next_uid = who % (USERS + 1) ? FIRST_USER - 1 + who % (USERS + 1) : 0;
    client_open(&stand.clients, pair[1]);
}

static void say(struct peer *peer, const void *text, size_t length)
{
    if (peer->fd < 0)
        return;
    stand.root |= peer->uid == 0;
    if (send(peer->fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        fuzz_assert(errno == EAGAIN || errno == EPIPE || errno == ECONNRESET);
}

/* The sound requests: of each job's step on one core or two. */
static size_t request_of(unsigned number, char *text, size_t size)
{
    unsigned job = FIRST_USER + number % JOBS, step = number / 64 % 2, core = 2 * (number % JOBS);

    switch (number / JOBS % 8) {
    case 0:
    case 1:
        return (size_t)snprintf(
            text, size,
            "{\"version\":1,\"op\":\"register\",\"job\":%u,\"step\":%u,\"uid\":%u,\"node\":\"n\","
            "\"job_cores\":\"%u-%u\",\"step_cores\":\"%u\",\"options\":{\"mode\":\"%s\"},"
            "\"began_s\":%u,\"tasks\":[[0,%u]]}\n",
            job, step, job, core, core + 1, core + step, number & 128 ? "observe" : "auto",
            number / JOBS % 2, 2000000000 + number);
    case 2:
        if (number & 128)
            return (size_t)snprintf(
                text, size,
                "{\"version\":1,\"op\":\"end\",\"job\":%u,\"step\":%u,\"late\":{\"job\":%u,"
                "\"step\":%u,\"uid\":%u,\"began_s\":1,\"options\":{\"mode\":\"auto\"},"
                "\"tasks\":[[0,1]]}}\n",
                job, step, job, step, job);
        return (size_t)snprintf(
            text, size, "{\"version\":1,\"op\":\"end\",\"job\":%u,\"step\":%u}\n", job, step);
    case 3:
        return (size_t)snprintf(text, size, "{\"version\":1,\"op\":\"job_end\",\"job\":%u}\n", job);
    case 4:
        return (size_t)snprintf(text, size, "{\"version\":1,\"op\":\"status\"}\n");
    case 5:
        return (size_t)snprintf(text, size, "{\"version\":1,\"op\":\"explain\",\"job\":%u}\n", job);
    case 6:
        return (size_t)snprintf(text, size, "{\"version\":1,\"op\":\"counters\"}\n");
    default:
        return (size_t)snprintf(text, size,
                                "{\"version\":1,\"op\":\"release\",\"job\":%u,\"end\":%s}\n", job,
                                number & 64 ? "true" : "false");
    }
}

/* Returns how many bytes more of the input it took. */
static size_t operate(unsigned kind, struct peer *peer, unsigned number, const uint8_t *data,
                      size_t size)
{
    char text[512];
    size_t length;

    switch (kind) {
    case CONNECT:
        dial(peer, number);
        break;
    case SAY:
        say(peer, text, request_of(number, text, sizeof(text)));
        break;
    case SAY_PART:
        length = request_of(number, text, sizeof(text));
        say(peer, text, length * (number % 7) / 7);
        break;
    case RAW:
        stand.root_raw |= peer->fd >= 0 && peer->uid == 0;
        length = number < size ? number : size;
        say(peer, data, length);
        return length;
    case FINISH:
        if (peer->fd >= 0)
            shutdown(peer->fd, SHUT_WR);
        break;
    case CLOSE:
        hang_up(peer);
        break;
    case TURN:
        turn(number % 16);
        break;
    default:
        if (peer->fd >= 0)
            hear(peer);
    }
    return 0;
}

/* All steps end, however they came. */
static void end_steps(void)
{
    struct packer *packer = &stand.f->packer;
    struct step *step;

    for (size_t i = 0; i < 1000 && (step = TAILQ_FIRST(&packer->steps->live)); i++)
        pipeline_job_end(packer, step->request.id.job, &(struct wire_identity){0});
    fuzz_assert(TAILQ_EMPTY(&packer->steps->live));
}

static void one(const uint8_t *data, size_t size)
{
    if (!stand.f)
        open_stand();
    stand.root = stand.root_raw = false;
    if (clients_init(&stand.clients, stand.base, &stand.f->packer, request_ops) < 0)
        abort();
    for (size_t i = 0; i < CLIENTS; i++)
        stand.peer[i].fd = -1;
    for (unsigned i = 0; i < OPERATIONS && size >= 2; i++) {
        unsigned kind = data[0] >> 4, client = data[0] & 15, number = data[1];
        size_t more;

        data += 2;
        size -= 2;
        more = operate(kind % KINDS, &stand.peer[client % CLIENTS], number, data, size);
        data += more;
        size -= more;
    }
    turn(32);
    for (size_t i = 0; i < CLIENTS; i++)
        hang_up(&stand.peer[i]);
    turn(4);
    clients_close(&stand.clients);
    end_steps();
    fixture_forget(stand.f);
    assert_steps(&stand.f->packer);
}

const struct fuzz_target fuzz_server = {.name = "server", .one = one, .seed = seeds, .slow = 20};
