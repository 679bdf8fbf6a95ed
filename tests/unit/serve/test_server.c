/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_server - the socket as its clients see it: an event loop in a child, and real connections
 * by root, by another user, by the clumsy and by the hostile. */
#include "tests/unit/common/fixture.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/daemon/open.h"
#include "packer/daemon/requests.h"
#include "packer/serve/server.h"
#include "tests/unit/common/hear.h"

#define NOBODY 65534

#define STATUS "{\"version\":1,\"op\":\"status\"}\n"
#define COUNTERS "{\"version\":1,\"op\":\"counters\"}\n"
#define EXPLAIN "{\"version\":1,\"op\":\"explain\",\"job\":1}\n"
#define RELEASE(job) "{\"version\":1,\"op\":\"release\",\"job\":" job "}\n"
#define LAST "{\"version\":1,\"ok\":true,\"more\":false}\n"
#define END "{\"version\":1,\"op\":\"end\",\"job\":7,\"step\":0}\n"
#define DONE "{\"version\":1,\"ok\":true}\n"
#define REGISTER                                                                                   \
    "{\"version\":1,\"op\":\"register\",\"job\":7,\"step\":0,\"uid\":0,\"job_cores\":\"0\","       \
    "\"step_cores\":\"0\",\"options\":{\"mode\":\"auto\"},\"tasks\":[[0,2000000000]]}\n"

struct stand {
    struct fixture *f;
    pid_t server;
};

/* ---- the server's side ---- */

static void on_term(evutil_socket_t sig, short what, void *base)
{
    (void)sig, (void)what;
    event_base_loopbreak(base);
}

/* Steps of root, of nobody, and of somebody else. */
static void put_steps(struct fixture *f)
{
    static const struct {
        uint32_t job, step, uid;
        const char *cpus;
    } steps[] = {{1, 0, 0, "2"}, {1, 1, NOBODY, "3"}, {2, 0, 1234, "4"}};

    for (size_t i = 0; i < 3; i++) {
        struct wire_register request =
            fixture_request(steps[i].job, steps[i].step, steps[i].cpus, steps[i].cpus, 1, NULL);

        request.uid = steps[i].uid;
        fixture_start(f, request);
    }
}

/* Serve until SIGTERM. Exits with 0 only when all went well and nothing leaked. */
static void serve(struct stand *stand, int ready)
{
    struct fixture *f = stand->f;
    struct event_base *base = event_base_new();
    struct event *term = evsignal_new(base, SIGTERM, on_term, base);
    struct berth_error err = {""};
    struct server *server;

    signal(SIGPIPE, SIG_IGN);
    event_add(term, NULL);
    put_steps(f);
    if (server_open(&server, base, &f->packer, request_ops, &err) < 0 ||
        write(ready, "x", 1) != 1) {
        fprintf(stderr, "server: %s\n", err.text);
        exit(1);
    }
    event_base_dispatch(base);
    server_close(server);
    event_free(term);
    event_base_free(base);
    packer_close(&f->packer);
    free(f);
    free(stand);
    exit(0);
}

static int start(void **state)
{
    struct stand *stand = calloc(1, sizeof(*stand));
    int ready[2];
    char byte;

    stand->f = fixture_open(TWO_BY_TWO);
    if (chmod(stand->f->dir, 0755) < 0 || pipe(ready) < 0 || (stand->server = fork()) < 0)
        return -1;
    if (stand->server == 0)
        serve(stand, ready[1]);
    close(ready[1]);
    *state = stand;
    return read(ready[0], &byte, 1) == 1 ? close(ready[0]) : -1;
}

static int halt(void **state)
{
    struct stand *stand = *state;
    int status = -1;
    bool gone;

    kill(stand->server, SIGTERM);
    waitpid(stand->server, &status, 0);
    gone = access(stand->f->conf.socket, F_OK) < 0;
    fixture_close(stand->f);
    free(stand);
    if (status != 0 || !gone)
        fprintf(stderr, "the server ended with %#x, its socket is %s\n", (unsigned)status,
                gone ? "removed" : "still there");
    return status == 0 && gone ? 0 : -1;
}

/* ---- the client's side ---- */

static int try_dial(const struct fixture *f)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, f->conf.socket);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return -1;
    return fd;
}

static int dial(const struct fixture *f)
{
    int fd = try_dial(f);

    assert_true(fd >= 0);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void assert_answer(int fd, const char *request, const char *until, const char *part)
{
    char *text;

    say(fd, request);
    text = hear(fd, until);
    if (!strstr(text, part))
        fail_msg("%s -> %s, no %s", request, text, part);
    free(text);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    while ((text = strstr(text, part))) {
        n++;
        text += strlen(part);
    }
    return n;
}

/* ---- root ---- */

static void test_status(void **state)
{
    struct stand *stand = *state;
    int fd = dial(stand->f);
    char *text;

    say(fd, STATUS);
    text = hear(fd, LAST);
    assert_int_equal(count(text, "\"more\":true"), 4);
    assert_int_equal(count(text, "\"node\":{"), 1);
    assert_int_equal(count(text, "\"step\":{"), 3);
    assert_non_null(strstr(text, "\"id\":\"2.0\""));
    free(text);
    close(fd);
}

static void test_explain(void **state)
{
    struct stand *stand = *state;
    int fd = dial(stand->f);
    char *text;

    say(fd, EXPLAIN);
    text = hear(fd, LAST);
    assert_int_equal(count(text, "\"step\":{\"id\":"), 2);
    free(text);
    assert_answer(fd, "{\"version\":1,\"op\":\"explain\",\"job\":1,\"step\":1}\n", LAST,
                  "\"step\":{\"id\":\"1.1\"");
    assert_answer(fd, "{\"version\":1,\"op\":\"explain\",\"job\":99}\n", LAST, "\"node\"");
    close(fd);
}

static void test_counters(void **state)
{
    struct stand *stand = *state;
    int fd = dial(stand->f);
    char *text;

    say(fd, COUNTERS);
    text = hear(fd, LAST);
    assert_int_equal(count(text, "\"more\":true"), 4);
    assert_int_equal(count(text, "\"node\":{"), 1);
    assert_int_equal(count(text, "\"sample\":{\"id\":"), 3);
    assert_non_null(strstr(text, "\"sample\":{\"id\":\"2.0\",\"step\":\"prog\",\"at\":"));
    free(text);
    close(fd);
}

static void test_register_and_end(void **state)
{
    struct stand *stand = *state;
    int fd = dial(stand->f);

    assert_answer(fd, REGISTER, "\n", "\"ok\":true,\"managed\":true");
    assert_answer(fd, STATUS, LAST, "\"id\":\"7.0\",");
    assert_answer(fd, END, "\n", DONE);
    assert_answer(fd, END, "\n", DONE); /* once more does no harm */
    assert_answer(fd, "{\"version\":1,\"op\":\"explain\",\"job\":7}\n", LAST,
                  "\"state\":\"ended\"");
    assert_answer(fd, REGISTER, "\n", "\"ok\":true");
    assert_answer(fd, "{\"version\":1,\"op\":\"job_end\",\"job\":7}\n", "\n", DONE);
    assert_answer(fd, STATUS, LAST, "\"steps\":3,");
    close(fd);
}

static void test_release(void **state)
{
    struct stand *stand = *state;
    int fd = dial(stand->f);
    char *text;

    say(fd, RELEASE("1"));
    text = hear(fd, LAST);
    assert_int_equal(count(text, "\"state\":\"left\""), 2); /* 1.0 and 1.1 */
    assert_non_null(strstr(text, "\"released\":false"));
    free(text);
    assert_answer(fd, RELEASE("99"), "\n", "99: no such step runs here");
    assert_answer(fd, "{\"version\":1,\"op\":\"release\"}\n", LAST, "\"released\":true");
    assert_answer(fd, REGISTER, "\n", "\"managed\":false");
    assert_answer(fd, "{\"version\":1,\"op\":\"release\",\"end\":true}\n", LAST,
                  "\"released\":false");
    assert_answer(fd, REGISTER, "\n", "\"managed\":true");
    close(fd);
}

/* ---- somebody else ---- */

/* In a child that is nobody: does the answer to request have `has`, and not `lacks`? */
static void as_nobody(const struct fixture *f, const char *request, const char *until,
                      const char *has, const char *lacks)
{
    pid_t pid = fork();
    int status, fd;
    char *text;

    if (pid == 0) {
        if (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
            _exit(9);
        fd = try_dial(f);
        if (fd < 0)
            _exit(2);
        send(fd, request, strlen(request), MSG_NOSIGNAL);
        text = hear(fd, until);
        _exit(!strstr(text, has) ? 3 : strstr(text, lacks) ? 4 : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_others_see_their_own(void **state)
{
    struct stand *stand = *state;

    as_nobody(stand->f, STATUS, LAST, "\"id\":\"1.1\"", "\"id\":\"1.0\"");
    as_nobody(stand->f, STATUS, LAST, "\"node\":{", "\"id\":\"2.0\"");
    as_nobody(stand->f, EXPLAIN, LAST, "\"step\":{\"id\":\"1.1\"", "\"step\":{\"id\":\"1.0\"");
    as_nobody(stand->f, COUNTERS, LAST, "\"id\":\"1.1\"", "\"id\":\"2.0\"");
    as_nobody(stand->f, "{\"version\":1,\"op\":\"explain\",\"job\":2}\n", LAST, "\"node\"",
              "\"step\":{");
}

static void test_others_change_nothing(void **state)
{
    static const char *const requests[] = {REGISTER, END, RELEASE("1"),
                                           "{\"version\":1,\"op\":\"job_end\",\"job\":2}\n",
                                           "{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":1}\n"};
    struct stand *stand = *state;
    int fd;

    for (size_t i = 0; i < 4; i++)
        as_nobody(stand->f, requests[i], "\n", "only root may change anything", "\"ok\":true");
    fd = dial(stand->f);
    assert_answer(fd, STATUS, LAST, "\"steps\":3,");
    close(fd);
}

/* ---- the clumsy and the hostile ---- */

static void test_garbage(void **state)
{
    static const struct {
        const char *line, *error;
    } cases[] = {
        {"hello\n", "not JSON"},      {"\n", "not JSON"},
        {"{}\n", "version: missing"}, {"{\"version\":1,\"op\":\"dance\"}\n", "op: 'dance'"},
        {"\x01\xff\n", "not JSON"},
    };
    struct stand *stand = *state;
    int fd = dial(stand->f);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_answer(fd, cases[i].line, "\n", cases[i].error);
    assert_answer(fd, STATUS, LAST, "\"node\""); /* and the conversation goes on */
    close(fd);
}

static void test_half_lines(void **state)
{
    struct stand *stand = *state;
    int fd = dial(stand->f), gone = dial(stand->f);
    char byte[2] = "";

    say(gone, "{\"version\":1,\"op\":");
    close(gone);
    for (const char *at = STATUS; at[1]; at++) {
        byte[0] = *at;
        say(fd, byte);
    }
    assert_answer(fd, "\n", LAST, "\"node\"");
    assert_answer(fd, END END STATUS, LAST, DONE DONE); /* three in one go */
    close(fd);
}

/* The peer has said all it has to say, and listens. */
static void test_half_closed(void **state)
{
    struct stand *stand = *state;
    int fd = dial(stand->f);
    char *text;

    say(fd, STATUS);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    text = hear(fd, NULL);
    assert_int_equal(count(text, LAST), 1);
    free(text);
    close(fd);
}

static void test_longest_line(void **state)
{
    struct stand *stand = *state;
    char *line = malloc(WIRE_MESSAGE_MAX + 1);
    int fd = dial(stand->f);

    memset(line, ' ', WIRE_MESSAGE_MAX);
    memcpy(line, STATUS, strlen(STATUS) - 1);
    line[WIRE_MESSAGE_MAX - 1] = '\n';
    line[WIRE_MESSAGE_MAX] = '\0';
    assert_answer(fd, line, LAST, "\"node\"");
    free(line);
    close(fd);
}

static void test_over_long_line(void **state)
{
    struct stand *stand = *state;
    int fd = dial(stand->f), other = dial(stand->f);
    char block[4096], *text;

    memset(block, 'x', sizeof(block));
    for (size_t i = 0; i < 64; i++)
        if (send(fd, block, sizeof(block), MSG_NOSIGNAL) < 0)
            break;
    text = hear(fd, NULL); /* hangs up */
    assert_string_equal(text, "");
    free(text);
    close(fd);
    assert_answer(other, STATUS, LAST, "\"node\"");
    close(other);
}

/* Who asks and asks and does not listen is not answered beyond measure; when he listens, all of it
 * comes. */
static void test_does_not_listen(void **state)
{
    struct stand *stand = *state;
    size_t asked = 2000, lasts = 0;
    int fd = dial(stand->f), other = dial(stand->f);
    char *all = malloc(asked * strlen(STATUS) + 1), buffer[65537], last = '\0';
    ssize_t got;

    all[0] = '\0';
    for (size_t i = 0; i < asked; i++)
        memcpy(all + i * strlen(STATUS), STATUS, strlen(STATUS) + 1);
    say(fd, all);
    free(all);
    assert_answer(other, STATUS, LAST, "\"node\"");
    close(other);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    while ((got = recv(fd, buffer, sizeof(buffer) - 1, 0)) > 0) {
        buffer[got] = '\0';
        for (ssize_t i = 0; i < got; last = buffer[i++])
            lasts += buffer[i] == '\n' && last == '}';
    }
    assert_int_equal(lasts, asked * 5); /* the node, three steps, and the end of it */
    close(fd);
}

static void test_many_clients(void **state)
{
    struct stand *stand = *state;
    int fd[200];

    for (size_t i = 0; i < 200; i++)
        fd[i] = dial(stand->f);
    for (size_t i = 0; i < 200; i++)
        say(fd[i], STATUS);
    for (size_t i = 0; i < 200; i++) {
        free(hear(fd[i], LAST));
        close(fd[i]);
    }
    fd[0] = dial(stand->f);
    assert_answer(fd[0], STATUS, LAST, "\"node\"");
    close(fd[0]);
}

/* ---- the sockets themselves ---- */

static int try_dial_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, path);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The plugin's socket is for root, who asks there what he asks at the other one. */
static void test_plugin_socket(void **state)
{
    struct stand *stand = *state;
    char path[sizeof(stand->f->conf.socket) + 16];
    struct stat st;
    int fd, status;
    pid_t pid;

    snprintf(path, sizeof(path), "%s" WIRE_PLUGIN_SUFFIX, stand->f->conf.socket);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    fd = try_dial_at(path);
    assert_answer(fd, REGISTER, "\n", "\"ok\":true,\"managed\":true");
    assert_answer(fd, END, "\n", DONE);
    close(fd);
    pid = fork();
    if (pid == 0)
        _exit(setgid(NOBODY) == 0 && setuid(NOBODY) == 0 && try_dial_at(path) < 0 ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_second_server(void **state)
{
    struct stand *stand = *state;
    struct event_base *base = event_base_new();
    struct berth_error err = {""};
    struct server *server;
    int fd;

    assert_int_equal(server_open(&server, base, &stand->f->packer, request_ops, &err), -1);
    assert_non_null(strstr(err.text, "another berthd"));
    fd = dial(stand->f);
    assert_answer(fd, STATUS, LAST, "\"node\""); /* the first one is not harmed */
    close(fd);
    event_base_free(base);
}

static void test_stale_socket(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct event_base *base = event_base_new();
    struct berth_error err = {""};
    struct server *server;
    struct stat st;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    strcpy(address.sun_path, f->conf.socket);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd); /* as a killed berthd leaves it */
    if (server_open(&server, base, &f->packer, request_ops, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(stat(f->conf.socket, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0666);
    server_close(server);
    assert_int_equal(stat(f->conf.socket, &st), -1);
    strcpy(f->packer.world.conf.socket, "/proc/no/such/folder/s"); /* where nobody makes one */
    assert_int_equal(server_open(&server, base, &f->packer, request_ops, &err), -1);
    assert_non_null(strstr(err.text, "No such file"));
    event_base_free(base);
    fixture_close(f);
}

#define test(name) cmocka_unit_test_setup_teardown(name, start, halt)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_status),
        test(test_explain),
        test(test_counters),
        test(test_register_and_end),
        test(test_release),
        test(test_others_see_their_own),
        test(test_others_change_nothing),
        test(test_garbage),
        test(test_half_lines),
        test(test_half_closed),
        test(test_longest_line),
        test(test_over_long_line),
        test(test_does_not_listen),
        test(test_many_clients),
        test(test_plugin_socket),
        test(test_second_server),
        cmocka_unit_test(test_stale_socket),
    };

    if (geteuid() != 0) { /* nobody may register then, and nobody can be somebody else */
        puts("test_server: skipped: needs root");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
