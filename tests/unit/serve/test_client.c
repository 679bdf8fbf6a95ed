/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_client - who is served when: root and users on connections whose other ends the test holds,
 * in an event loop that the test turns itself. */
#include "tests/unit/common/fixture.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packer/daemon/requests.h"
#include "packer/serve/client.h"
#include "packer/serve/server.h"
#include "tests/unit/common/folder.h"
#include "enum_table.h"

#define ALICE 1001
#define BOB 1002
#define TASKS 64
#define STATUS "{\"version\":1,\"op\":\"status\"}\n"
#define EXPLAIN "{\"version\":1,\"op\":\"explain\",\"job\":1}\n"
#define LAST "{\"version\":1,\"ok\":true,\"more\":false}\n"
#define MANY 64 /* ended steps of Alice's job 1 */

struct stand {
    struct fixture *f;
    struct event_base *base;
    struct clients clients;
    int fd[1024]; /* the test's ends */
    size_t n;
};

static int start(void **state)
{
    struct stand *stand = calloc(1, sizeof(*stand));

    stand->f = fixture_open(TWO_BY_TWO);
    stand->base = server_loop();
    assert_int_equal(clients_init(&stand->clients, stand->base, &stand->f->packer, request_ops), 0);
    stand->clients.patience.tv_sec = 600; /* the machine may be slow */
    *state = stand;
    return 0;
}

static int halt(void **state)
{
    struct stand *stand = *state;

    clients_close(&stand->clients);
    assert_int_equal(stand->clients.budget.all.connections, 0);
    assert_int_equal(stand->clients.budget.all.unsent, 0);
    for (size_t i = 0; i < stand->n; i++)
        close(stand->fd[i]);
    event_base_free(stand->base);
    fixture_close(stand->f);
    free(stand);
    return 0;
}

/* Connects that user: the kernel says of a pair of sockets who made it. */
static int connect_as(struct stand *stand, uid_t uid)
{
    int ends[2];

    assert_int_equal(seteuid(uid), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    assert_int_equal(seteuid(0), 0);
    client_open(&stand->clients, ends[1]);
    return stand->fd[stand->n++] = ends[0];
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void say_often(int fd, const char *text, size_t times)
{
    while (times-- > 0)
        say(fd, text);
}

/* Lets the loop turn until nothing is left to be done at once. */
static void turn(struct stand *stand)
{
    event_base_loop(stand->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

static void turn_often(struct stand *stand)
{
    for (int i = 0; i < 8; i++)
        turn(stand);
}

static void on_heard(evutil_socket_t fd, short what, void *base)
{
    (void)fd, (void)what;
    event_base_loopbreak(base);
}

/* Lets the loop turn until something is said there, and no further. */
static void turn_until_heard(struct stand *stand, int fd)
{
    struct event *heard = event_new(stand->base, fd, EV_READ, on_heard, stand->base);

    event_priority_set(heard, PRIORITY_ROOT);
    event_add(heard, NULL);
    event_base_dispatch(stand->base);
    event_free(heard);
}

/* Reads what is there; counts how often the text, which is shorter than a line, ends in it. -1:
 * hung up. */
static int hear_some(int fd, const char *text)
{
    static char end[1024][64]; /* what was heard last, of each descriptor */
    static char buffer[1 << 20];
    size_t kept = strlen(end[fd]), used = kept, keep = strlen(text) - 1;
    ssize_t got;
    int n = 0;

    memcpy(buffer, end[fd], kept);
    while (used < sizeof(buffer) - 1 &&
           (got = recv(fd, buffer + used, sizeof(buffer) - 1 - used, 0)) > 0)
        used += (size_t)got;
    buffer[used] = '\0';
    for (const char *at = buffer; (at = strstr(at, text)); at++)
        n++;
    keep = used < keep ? used : keep;
    memcpy(end[fd], buffer + used - keep, keep + 1);
    if (used > kept || got != 0)
        return n;
    end[fd][0] = '\0';
    return -1;
}

/* The same of a connection that has to last. */
static int hear_more(int fd, const char *text)
{
    int n = hear_some(fd, text);

    if (n < 0)
        fail_msg("hung up");
    return n;
}

/* Lets the loop turn until the text was said so often. */
static void hear_until(struct stand *stand, int fd, const char *text, int times)
{
    for (int heard = 0; heard < times; heard += hear_more(fd, text))
        event_base_loop(stand->base, EVLOOP_ONCE);
}

static void hear_hang_up(struct stand *stand, int fd)
{
    while (hear_some(fd, "\n") >= 0)
        event_base_loop(stand->base, EVLOOP_ONCE);
}

/* Alice's job 1 had many steps of many tasks. */
static void put_history(struct stand *stand)
{
    stand->f->packer.steps->history = MANY;
    for (uint32_t i = 0; i < MANY; i++) {
        struct wire_register request = fixture_request(1, i, "0", "0", TASKS, NULL);

        request.uid = ALICE;
        fixture_start(stand->f, request);
        fixture_end(stand->f, 1, i);
    }
}

/* Root asks last, and is answered before Alice has many answers. */
static void test_root_first(void **state)
{
    struct stand *stand = *state;
    int alice[BUDGET_CONNECTIONS], root = connect_as(stand, 0), answers = 0;

    for (size_t i = 0; i < BUDGET_CONNECTIONS; i++) {
        alice[i] = connect_as(stand, ALICE);
        say_often(alice[i], STATUS, 20);
    }
    say(root, STATUS);
    turn_until_heard(stand, root);
    for (size_t i = 0; i < BUDGET_CONNECTIONS; i++)
        answers += hear_some(alice[i], LAST);
    assert_int_equal(answers, 0);
}

/* A slurmstepd says that a step of that user has come. */
static int launch_for(struct stand *stand, uid_t uid, uint32_t job)
{
    struct wire_request request = {.op = WIRE_OP_REGISTER,
                                   .reg = fixture_request(job, 0, "0-3", "0-3", 1, NULL)};
    int fd = connect_as(stand, 0);
    char *line;

    request.reg.uid = uid;
    line = wire_request_encode(&request);
    say(fd, line);
    free(line);
    wire_request_clear(&request);
    return fd;
}

/* Bob's one launch comes after many of Alice's, and waits for a few of them: those that were
 * answered before it was read. */
static void test_launches_in_rounds(void **state)
{
    struct stand *stand = *state;
    int alice[32], bob, answers = 0;

    for (uint32_t i = 0; i < 32; i++)
        alice[i] = launch_for(stand, ALICE, 1 + i);
    bob = launch_for(stand, BOB, 100);
    turn_until_heard(stand, bob);
    for (size_t i = 0; i < 32; i++)
        answers += hear_some(alice[i], "\n");
    assert_in_range(answers, 1, 8);
    for (size_t i = 0; i < 32; i++)
        if (!registry_find(stand->f->packer.steps, (struct wire_step_id){1 + (uint32_t)i, 0}))
            hear_until(stand, alice[i], "\n", 1);
}

/* One user's backlog does not stand before another's question. */
static void test_turns(void **state)
{
    struct stand *stand = *state;
    int alice = connect_as(stand, ALICE), bob = connect_as(stand, BOB);

    put_history(stand);
    say_often(alice, EXPLAIN, 20);
    turn_until_heard(stand, alice);
    say(bob, STATUS);
    turn_until_heard(stand, bob);
    assert_int_equal(hear_some(alice, LAST), 0);
}

/* What is asked beyond the budget is answered, later. */
static void test_waits(void **state)
{
    struct stand *stand = *state;
    int alice = connect_as(stand, ALICE);

    say_often(alice, STATUS, BUDGET_REQUESTS + 3);
    hear_until(stand, alice, LAST, BUDGET_REQUESTS + 3);
}

/* Nobody reads: what waits to be read stays little, and all of it comes when it is read. */
static void test_nobody_reads(void **state)
{
    struct stand *stand = *state;
    int alice[4], heard = 0;

    put_history(stand);
    for (size_t i = 0; i < 4; i++) {
        alice[i] = connect_as(stand, ALICE);
        say(alice[i], EXPLAIN);
    }
    for (int i = 0; i < 20; i++) {
        turn(stand);
        assert_in_range(stand->clients.budget.all.unsent, 0, 4 * (32 << 10));
    }
    while (heard < 4) {
        for (size_t i = 0; i < 4; i++)
            heard += hear_more(alice[i], LAST);
        turn(stand);
    }
}

/* Steps end and are forgotten while they are told of. */
static void test_steps_end(void **state)
{
    struct stand *stand = *state;
    int alice = connect_as(stand, ALICE);

    put_history(stand);
    say(alice, EXPLAIN);
    turn_until_heard(stand, alice);
    for (uint32_t i = 0; i < MANY; i++) {
        fixture_start(stand->f, fixture_request(2, i, "1", "1", 1, NULL));
        fixture_end(stand->f, 2, i);
    }
    hear_until(stand, alice, LAST, 1);
}

static void test_too_many_connections(void **state)
{
    struct stand *stand = *state;
    int last = -1, bob;

    for (size_t i = 0; i <= BUDGET_CONNECTIONS; i++)
        last = connect_as(stand, ALICE);
    assert_int_equal(hear_some(last, "this user has too many connections"), 1);
    assert_int_equal(hear_some(last, "\n"), -1);
    bob = connect_as(stand, BOB);
    say(bob, STATUS);
    hear_until(stand, bob, LAST, 1);
}

/* Many users do nothing with their connections: there is room for one who asks, and for root. */
static void test_idle_ones_make_room(void **state)
{
    struct stand *stand = *state;
    int first = -1, fd;

    for (uid_t uid = 2000; uid < 2000 + BUDGET_CONNECTIONS_ALL; uid++) {
        fd = connect_as(stand, uid);
        first = first < 0 ? fd : first;
    }
    fd = connect_as(stand, ALICE);
    say(fd, STATUS);
    hear_until(stand, fd, LAST, 1);
    assert_int_equal(hear_some(first, "\n"), -1);
    fd = connect_as(stand, 0);
    say(fd, STATUS);
    hear_until(stand, fd, LAST, 1);
}

/* All of a user's uids of /etc/subuid are one user. */
static void test_subordinate_uids(void **state)
{
    struct stand *stand = *state;
    struct rootfs *root = &stand->f->packer.world.root;
    int last = -1;

    rootfs_close(root);
    assert_int_equal(rootfs_open(root, stand->f->dir, NULL), 0);
    folder_put(stand->f->dir, "etc/subuid", "mallory:100000:65536\n");
    for (uid_t uid = 100000; uid <= 100000 + BUDGET_CONNECTIONS; uid++)
        last = connect_as(stand, uid);
    assert_int_equal(hear_some(last, "this user has too many connections"), 1);
}

/* Many uids that stand in no file have all connections, and all ask: who has the most of them gives
 * one to who has none. */
static void test_who_has_most_makes_room(void **state)
{
    struct stand *stand = *state;
    int fd;

    for (uid_t uid = 2000; uid < 2000 + BUDGET_CONNECTIONS_ALL / BUDGET_CONNECTIONS; uid++)
        for (int i = 0; i < BUDGET_CONNECTIONS; i++)
            say_often(connect_as(stand, uid), STATUS, 20);
    turn_until_heard(stand, stand->fd[0]);
    fd = connect_as(stand, ALICE);
    say(fd, STATUS);
    hear_until(stand, fd, LAST, 1);
}

/* As many users as there is room for, each with a question: then there is none. */
static void test_too_many_users(void **state)
{
    struct stand *stand = *state;
    int fd;

    put_history(stand);
    for (uid_t uid = 2000; uid < 2000 + BUDGET_CONNECTIONS_ALL; uid++)
        say_often(connect_as(stand, uid), STATUS, 20);
    turn_often(stand);
    fd = connect_as(stand, ALICE);
    assert_int_equal(hear_some(fd, "too many users ask"), 1);
    assert_int_equal(hear_some(fd, "\n"), -1);
}

/* ---- patience ---- */

/* Each byte comes in time, and the request does not. */
static void test_drip(void **state)
{
    struct stand *stand = *state;
    int fd;

    stand->clients.patience = (struct timeval){.tv_usec = 200000};
    fd = connect_as(stand, ALICE);
    while (hear_some(fd, "\n") >= 0) {
        assert_true(send(fd, " ", 1, MSG_NOSIGNAL) == 1 || errno == EPIPE);
        usleep(20000);
        turn(stand);
    }
}

static void test_silent(void **state)
{
    struct stand *stand = *state;
    int fd;

    stand->clients.patience = (struct timeval){.tv_usec = 500000};
    fd = connect_as(stand, ALICE);
    say(fd, STATUS);
    hear_until(stand, fd, LAST, 1);
    hear_hang_up(stand, fd);
}

/* Who stops reading is hung up on. */
static void test_stopped_reader(void **state)
{
    struct stand *stand = *state;
    int fd;

    put_history(stand);
    stand->clients.patience = (struct timeval){.tv_usec = 50000};
    fd = connect_as(stand, ALICE);
    say_often(fd, EXPLAIN, 4);
    while (stand->clients.budget.all.connections)
        event_base_loop(stand->base, EVLOOP_ONCE);
}

/* Who waits for berthd is not hung up on for that: he has asked for more than he may at once. */
static void test_waiting_is_no_silence(void **state)
{
    struct stand *stand = *state;
    int fd;

    stand->clients.patience = (struct timeval){.tv_usec = 800000};
    fd = connect_as(stand, ALICE);
    say_often(fd, STATUS, BUDGET_REQUESTS + 30); /* a second and a half */
    hear_until(stand, fd, LAST, BUDGET_REQUESTS + 30);
}

#define test(name) cmocka_unit_test_setup_teardown(name, start, halt)

/* ---- who reads what was said ---- */

#define REGISTER(job)                                                                              \
    "{\"version\":1,\"op\":\"register\",\"job\":" job ",\"step\":0,\"uid\":1001,\"began_s\":1.5,"  \
    "\"job_cores\":\"2\",\"step_cores\":\"2\",\"options\":{\"mode\":\"auto\"},"                    \
    "\"tasks\":[[0,2147483647]]}\n"

/* Reads what is there. Returns how many bytes that were. */
static ssize_t listen_to(int fd)
{
    char text[4096];

    return recv(fd, text, sizeof(text), 0);
}

/* Hangs up, as slurmstepd does when its time is over. */
static void hang_up(struct stand *stand, int fd)
{
    close(fd);
    stand->n--;
}

static bool is_late(struct stand *stand, uint32_t job)
{
    return fixture_step(stand->f, job, 0)->late;
}

/* The kernel tells whether the other end has read the answer: a step that nobody told where to
 * stand is one that runs already. */
static void test_unheard(void **state)
{
    struct stand *stand = *state;
    int fd = connect_as(stand, 0);

    signal(SIGPIPE, SIG_IGN); /* as berthd has it */
    say(fd, REGISTER("20"));
    turn_often(stand);
    assert_true(listen_to(fd) > 0);
    hang_up(stand, fd);
    turn_often(stand);
    assert_false(is_late(stand, 20));

    fd = connect_as(stand, 0);
    say(fd, REGISTER("21"));
    turn_often(stand);
    hang_up(stand, fd); /* it is said, and not read */
    turn_often(stand);
    assert_true(is_late(stand, 21));

    fd = connect_as(stand, 0);
    say(fd, REGISTER("22"));
    hang_up(stand, fd); /* nothing is said yet */
    turn_often(stand);
    assert_true(is_late(stand, 22));

    fd = connect_as(stand, 0);
    say(fd, REGISTER("23") REGISTER("24"));
    shutdown(fd, SHUT_WR); /* it still listens */
    turn_often(stand);
    assert_true(listen_to(fd) > 0);
    hang_up(stand, fd);
    turn_often(stand);
    assert_false(is_late(stand, 23));
    assert_false(is_late(stand, 24));
}

/* ---- what is known later ---- */

#define RECORDS "{\"version\":1,\"op\":\"records\"}\n"

static struct {
    struct reply *reply; /* the one that waits; NULL: none does */
    bool known;
    int dropped;
} later;

static void drop_later(void *own)
{
    (void)own;
    later.reply = NULL;
    later.dropped++;
}

static int ask_later(struct reply *reply, struct berth_error *err)
{
    (void)err;
    later.reply = reply->own = reply;
    reply->own_free = drop_later;
    return 0;
}

static bool tell_later(struct reply *reply, struct evbuffer *out)
{
    (void)reply;
    if (later.known)
        evbuffer_add_printf(out, "{\"version\":1,\"ok\":true,\"later\":1}\n");
    return later.known;
}

static const struct request_op SPARSE(later_ops, WIRE_OPS) = {
    [WIRE_OP_RECORDS] = {.act = ask_later, .text = tell_later}};

/* Lets the stand have an operation whose answer the test knows when it wants to. */
static struct stand *stand_later(void **state)
{
    static struct request_op ops[WIRE_OPS];
    struct stand *stand = *state;

    signal(SIGPIPE, SIG_IGN); /* as berthd has it */
    memcpy(ops, request_ops, sizeof(ops));
    ops[WIRE_OP_RECORDS] = later_ops[WIRE_OP_RECORDS];
    stand->clients.ops = ops;
    memset(&later, 0, sizeof(later));
    return stand;
}

static struct budget_account *account_of(struct stand *stand, uid_t uid)
{
    struct budget *budget = &stand->clients.budget;

    for (size_t i = 0; i < BUDGET_ACCOUNTS; i++)
        if (budget->account[i].connections && budget->account[i].uid == uid)
            return &budget->account[i];
    fail_msg("uid %u has no connection", uid);
    return NULL;
}

/* ---- what all users together have ---- */

static struct {
    uid_t first; /* who was answered first */
    size_t n;    /* how often anybody was */
} answered;

static bool tell_first(struct reply *reply, struct evbuffer *out)
{
    if (answered.n++ == 0)
        answered.first = reply->uid;
    evbuffer_add_printf(out, LAST);
    return true;
}

/* It is used up, and many uids ask for more of it, each with a budget of his own: who has asked for
 * nothing until now is answered before any of them. */
static void test_who_had_least_is_next(void **state)
{
    static const struct request_op SPARSE(ops,
                                          WIRE_OPS) = {[WIRE_OP_STATUS] = {.text = tell_first}};
    struct stand *stand = *state;

    memset(&answered, 0, sizeof(answered));
    stand->clients.ops = ops;
    for (uid_t uid = 2000; uid < 2000 + 8 * BUDGET_ALL; uid++) {
        say_often(connect_as(stand, uid), STATUS, 4);
        budget_spend(&stand->clients.budget, account_of(stand, uid), 0, BUDGET_CPU_S / 2,
                     clock_s());
    }
    say(connect_as(stand, ALICE), STATUS);
    for (int i = 0; i < 20 * BUDGET_ALL; i++)
        turn(stand);
    assert_int_equal(answered.n, 0);
    stand->clients.budget.all.cpu_s = BUDGET_CPU_S;
    event_active(stand->clients.users, EV_TIMEOUT, 1);
    while (answered.n == 0)
        turn(stand);
    assert_int_equal(answered.first, ALICE);
}

static void make_known(void)
{
    later.known = true;
    reply_wake(later.reply);
}

/* Others are served meanwhile, and what was asked behind it is answered behind it. */
static void test_later(void **state)
{
    struct stand *stand = stand_later(state);
    int alice = connect_as(stand, ALICE), bob = connect_as(stand, BOB);

    say(alice, RECORDS STATUS);
    turn_often(stand);
    assert_non_null(later.reply);
    say(alice, STATUS); /* what comes meanwhile waits, too */
    say(bob, STATUS);
    hear_until(stand, bob, LAST, 1);
    assert_int_equal(hear_some(alice, LAST), 0);
    make_known();
    turn_until_heard(stand, alice);
    assert_int_equal(hear_some(alice, "\"later\":1"), 1);
    hear_until(stand, alice, LAST, 2);
    assert_int_equal(later.dropped, 1);
}

/* Who half closes still gets it; who is gone is forgotten, known or not. */
static void test_later_gone(void **state)
{
    struct stand *stand = stand_later(state);
    int fd = connect_as(stand, ALICE);

    say(fd, RECORDS);
    shutdown(fd, SHUT_WR);
    turn_often(stand);
    assert_non_null(later.reply);
    make_known();
    hear_until(stand, fd, "\"later\":1", 1);
    turn_often(stand);
    assert_int_equal(stand->clients.budget.all.connections, 0);

    later.known = false;
    fd = connect_as(stand, ALICE);
    say(fd, STATUS);
    turn_often(stand);
    say(fd, RECORDS);
    turn_often(stand);
    assert_non_null(later.reply);
    hang_up(stand, fd); /* what was said and not read: a reset */
    turn_often(stand);
    assert_null(later.reply);
    assert_int_equal(stand->clients.budget.all.connections, 0);

    fd = connect_as(stand, ALICE);
    say(fd, RECORDS);
    turn_often(stand);
    hang_up(stand, fd);
    turn_often(stand);
    make_known();
    turn_often(stand);
    assert_int_equal(stand->clients.budget.all.connections, 0);
    assert_int_equal(later.dropped, 3);
}

/* It is never known: an error, and the conversation goes on. */
static void test_later_never(void **state)
{
    struct stand *stand = stand_later(state);
    int fd;

    stand->clients.patience = (struct timeval){.tv_usec = 500000};
    fd = connect_as(stand, ALICE);
    say(fd, RECORDS);
    hear_until(stand, fd, "\"error\":\"this takes too long", 1);
    assert_null(later.reply);
    stand->clients.patience = (struct timeval){.tv_sec = 600};
    say(fd, STATUS);
    hear_until(stand, fd, LAST, 1);
}

/* What a thread has spent is paid by who has asked: his next question waits, others' do not. */
static void test_later_is_paid(void **state)
{
    struct stand *stand = stand_later(state);
    int alice = connect_as(stand, ALICE), bob = connect_as(stand, BOB);

    say(alice, RECORDS);
    turn_often(stand);
    later.reply->cpu_s = BUDGET_ALL * BUDGET_CPU_S / 2; /* of which he has a tenth */
    make_known();
    hear_until(stand, alice, "\"later\":1", 1);
    say(alice, STATUS);
    say(bob, STATUS);
    hear_until(stand, bob, LAST, 1);
    turn_often(stand);
    assert_int_equal(hear_some(alice, LAST), 0);
}

/* Somebody asks more than is read, and has to wait: the loop has nothing to do meanwhile, and he
 * pays for nothing. */
static void test_later_is_quiet(void **state)
{
    struct stand *stand = stand_later(state);
    char many[256 * (sizeof(RECORDS) - 1)];
    int alice = connect_as(stand, ALICE);

    for (size_t i = 0; i < sizeof(many); i += strlen(RECORDS))
        memcpy(many + i, RECORDS, strlen(RECORDS));
    for (int i = 0; i < 40; i++) { /* in large pieces: small ones fill the kernel's memory */
        send(alice, many, sizeof(many), MSG_NOSIGNAL);
        turn(stand);
    }
    for (int i = 0; i < 30000; i++)
        turn(stand);
    assert_non_null(later.reply);
    assert_true(budget_wait_s(&stand->clients.budget, account_of(stand, ALICE), true, clock_s()) <=
                0);
    make_known();
    hear_until(stand, alice, "\"later\":1", BUDGET_REQUESTS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_later_is_quiet),
        test(test_later),
        test(test_later_gone),
        test(test_later_never),
        test(test_later_is_paid),
        test(test_root_first),
        test(test_launches_in_rounds),
        test(test_turns),
        test(test_waits),
        test(test_nobody_reads),
        test(test_steps_end),
        test(test_too_many_connections),
        test(test_idle_ones_make_room),
        test(test_subordinate_uids),
        test(test_who_has_most_makes_room),
        test(test_who_had_least_is_next),
        test(test_too_many_users),
        test(test_drip),
        test(test_silent),
        test(test_stopped_reader),
        test(test_waiting_is_no_silence),
        cmocka_unit_test_setup_teardown(test_unheard, start, halt),
    };

    if (geteuid() != 0)
        return puts("test_client: skipped: needs root"), 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
