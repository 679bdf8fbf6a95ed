/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_metrics_http - the page as it is scraped: an event loop in a child, and real connections to
 * a Unix socket and to a port, by the well-behaved, the clumsy and the hostile. */
#include "tests/unit/common/fixture.h"

#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/common/hear.h"
#include "tests/unit/common/metrics_page.h"
#include "packer/daemon/open.h"
#include "packer/metrics/http.h"

#define NOBODY 65534
#define OPENMETRICS "Accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1\r\n"

struct stand {
    struct fixture *f;
    pid_t server;
    unsigned port; /* 0: a Unix socket */
};

/* ---- the server's side ---- */

static void on_term(evutil_socket_t sig, short what, void *base)
{
    (void)sig, (void)what;
    event_base_loopbreak(base);
}

/* Serve until SIGTERM. Exits with 0 only when all went well and nothing leaked. */
static void serve(struct stand *stand, int ready)
{
    struct fixture *f = stand->f;
    struct event_base *base = event_base_new();
    struct event *term = evsignal_new(base, SIGTERM, on_term, base);
    struct berth_error err = {""};
    struct metrics_http *http;
    unsigned port;

    signal(SIGPIPE, SIG_IGN);
    event_add(term, NULL);
    fixture_run(f, 1, "0", NULL);
    if (metrics_http_open(&http, base, &f->packer, &err) < 0 || !http) {
        fprintf(stderr, "server: %s\n", err.text);
        exit(1);
    }
    port = metrics_http_port(http);
    if (write(ready, &port, sizeof(port)) != sizeof(port))
        exit(1);
    event_base_dispatch(base);
    metrics_http_close(http);
    event_free(term);
    event_base_free(base);
    packer_close(&f->packer);
    free(f);
    free(stand);
    exit(0);
}

static int start(void **state, const char *where, const char *group)
{
    struct stand *stand = calloc(1, sizeof(*stand));
    struct conf *conf;
    int ready[2];

    stand->f = fixture_open(TWO_BY_TWO);
    conf = &stand->f->packer.world.conf;
    if (where)
        strcpy(conf->metrics, where);
    else
        snprintf(conf->metrics, sizeof(conf->metrics), "unix:%s/m.sock", stand->f->dir);
    strcpy(conf->metrics_group, group);
    if (chmod(stand->f->dir, 0755) < 0 || pipe(ready) < 0 || (stand->server = fork()) < 0)
        return -1;
    if (stand->server == 0)
        serve(stand, ready[1]);
    close(ready[1]);
    *state = stand;
    if (read(ready[0], &stand->port, sizeof(stand->port)) != sizeof(stand->port))
        return -1;
    return close(ready[0]);
}

static int start_unix(void **state)
{
    return start(state, NULL, "");
}

static int start_port(void **state)
{
    return start(state, "127.0.0.1:0", "");
}

static int start_open_port(void **state)
{
    return start(state, "127.0.0.1:0", "*");
}

static int halt(void **state)
{
    struct stand *stand = *state;
    int status = -1;
    bool gone;

    kill(stand->server, SIGTERM);
    waitpid(stand->server, &status, 0);
    gone = access(stand->f->packer.world.conf.metrics + strlen("unix:"), F_OK) < 0;
    fixture_close(stand->f);
    free(stand);
    if (status != 0 || !gone)
        fprintf(stderr, "the server ended with %#x, its socket is %s\n", (unsigned)status,
                gone ? "removed" : "still there");
    return status == 0 && gone ? 0 : -1;
}

/* ---- the client's side ---- */

static int try_dial(const struct stand *stand)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in port = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)stand->port),
                               .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(stand->port ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (stand->port)
        return connect(fd, (struct sockaddr *)&port, sizeof(port)) == 0 ? fd : -1;
    strcpy(local.sun_path, stand->f->packer.world.conf.metrics + strlen("unix:"));
    return connect(fd, (struct sockaddr *)&local, sizeof(local)) == 0 ? fd : -1;
}

static void say(int fd, const char *text)
{
    send(fd, text, strlen(text), MSG_NOSIGNAL);
}

/* All until the server hangs up. The caller frees it. */
static char *hear_all(int fd)
{
    char *text = hear(fd, NULL);

    close(fd);
    return text;
}

static char *ask(const struct stand *stand, const char *request)
{
    int fd = try_dial(stand);

    assert_true(fd >= 0);
    say(fd, request);
    return hear_all(fd);
}

static void assert_starts(const char *text, const char *start)
{
    if (strncmp(text, start, strlen(start)) != 0)
        fail_msg("wanted %s, got %.200s", start, text);
}

static const char *body_of(const char *text)
{
    const char *end = strstr(text, "\r\n\r\n");

    assert_non_null(end);
    return end + 4;
}

/* The value of a header into value[256]. */
static void header_of(const char *text, const char *name, char *value)
{
    const char *body = body_of(text);

    for (const char *line = strstr(text, "\r\n") + 2; line < body; line = strstr(line, "\r\n") + 2)
        if (strncasecmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
            snprintf(value, 256, "%.*s", (int)strcspn(line, "\r") - (int)strlen(name) - 2,
                     line + strlen(name) + 2);
            return;
        }
    fail_msg("no %s in %.300s", name, text);
}

static void assert_header(const char *text, const char *name, const char *wanted)
{
    char value[256];

    header_of(text, name, value);
    assert_string_equal(value, wanted);
}

static struct page *page_of(const char *answer, bool open)
{
    const char *body = body_of(answer);
    char why[256], length[32];
    struct page *page = page_read(body, strlen(body), open, why);

    if (!page)
        fail_msg("%s", why);
    assert_starts(answer, "HTTP/1.1 200 OK\r\n");
    snprintf(length, sizeof(length), "%zu", strlen(body));
    assert_header(answer, "Content-Length", length);
    assert_header(answer, "Connection", "close");
    return page;
}

/* ---- scraping ---- */

static void test_page(void **state)
{
    struct stand *stand = *state;
    char *plain = ask(stand, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    char *open = ask(stand, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n" OPENMETRICS "\r\n");
    struct page *page = page_of(plain, false);

    assert_header(plain, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    assert_non_null(page_find(page, "berth_cores", ""));
    page_free(page);
    page = page_of(open, true);
    assert_header(open, "Content-Type",
                  "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert_non_null(page_find(page, "berth_cores", ""));
    page_free(page);
    free(plain);
    free(open);
}

static void test_steps_on_the_socket(void **state)
{
    char *text = ask(*state, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");

    assert_non_null(strstr(text, "berth_step_info{jobid=\"1\""));
    free(text);
}

/* Whoever is logged in can read a port. */
static void test_no_steps_on_a_port(void **state)
{
    char *text = ask(*state, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");

    assert_non_null(strstr(text, "berth_steps{state=\"placed\"} 1\n"));
    assert_null(strstr(text, "jobid"));
    free(text);
}

/* A browser on this node has been told that a stranger's name is the loopback interface. */
static void test_a_port_has_no_other_names(void **state)
{
    static const struct {
        const char *host, *answer;
    } cases[] = {
        {"Host: localhost:9842\r\n", "HTTP/1.1 200 OK\r\n"},
        {"Host: LocalHost\r\n", "HTTP/1.1 200 OK\r\n"},
        {"Host: 127.0.0.1:9842\r\n", "HTTP/1.1 200 OK\r\n"},
        {"Host: [::1]:9842\r\n", "HTTP/1.1 200 OK\r\n"},
        {"", "HTTP/1.1 200 OK\r\n"},
        {"Host: evil.example.com\r\n", "HTTP/1.1 421 "},
        {"Host: localhost.example.com:9842\r\n", "HTTP/1.1 421 "},
        {"Host: 127.0.0.1.example.com\r\n", "HTTP/1.1 421 "},
    };
    char request[256];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text;

        snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\n%s\r\n", cases[i].host);
        text = ask(*state, request);
        assert_starts(text, cases[i].answer);
        free(text);
    }
}

static void test_nobody_is_kept_out(void **state)
{
    struct stand *stand = *state;
    pid_t pid = fork();
    int status;

    if (geteuid() != 0)
        skip();
    if (pid == 0) {
        if (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
            _exit(9);
        _exit(try_dial(stand) < 0 && errno == EACCES ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_head(void **state)
{
    char *text = ask(*state, "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"), length[256];

    assert_starts(text, "HTTP/1.1 200 OK\r\n");
    header_of(text, "Content-Length", length);
    assert_true(atoi(length) > 1000);
    assert_string_equal(body_of(text), "");
    free(text);
}

static void test_requests(void **state)
{
    static const struct {
        const char *request, *answer;
    } cases[] = {
        {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
        {"GET /metrics?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
        {"GET http://localhost/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
        {"GET /metrics HTTP/1.0\r\n\r\n", "HTTP/1.0 200 OK\r\n"},
        {"GET /metrics/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"},
        {"GET /../metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"},
        {"GET /etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"},
        {"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
         "HTTP/1.1 405 Method Not Allowed\r\n"},
        {"PUT /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
         "HTTP/1.1 405 Method Not Allowed\r\n"},
        {"DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n"},
        {"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 4"},
        {"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999\r\n\r\n", "HTTP/1.1 413 "},
        {"GARBAGE\r\n\r\n", ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = ask(*state, cases[i].request), length[256];

        assert_starts(text, cases[i].answer);
        if (strstr(text, " 200 ")) {
            header_of(text, "Content-Length", length);
            assert_int_equal(strlen(body_of(text)), atoi(length));
        }
        if (strstr(text, " 405 "))
            assert_header(text, "Allow", "GET, HEAD");
        free(text);
    }
}

/* ---- the hostile ---- */

static void assert_serves(const struct stand *stand)
{
    char *text = ask(stand, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");

    assert_starts(text, "HTTP/1.1 200 OK\r\n");
    free(text);
}

/* Headers without an end are cut off, and the next one is served. */
static void test_long_headers(void **state)
{
    char block[1024], *text;
    int fd = try_dial(*state);

    memset(block, 'x', sizeof(block) - 1);
    block[sizeof(block) - 1] = '\0';
    say(fd, "GET /metrics HTTP/1.1\r\nX: ");
    for (size_t i = 0; i < 64; i++)
        say(fd, block);
    shutdown(fd, SHUT_WR);
    text = hear_all(fd);
    assert_null(strstr(text, " 200 "));
    free(text);
    assert_serves(*state);
}

static double cpu_of(pid_t pid)
{
    unsigned long user = 0, system = 0;
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file,
                            "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                            &user, &system),
                     2);
    fclose(file);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static size_t descriptors_of(pid_t pid)
{
    char command[64];
    size_t n = 0;
    FILE *pipe;

    snprintf(command, sizeof(command), "ls /proc/%d/fd | wc -l", pid);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%zu", &n), 1);
    pclose(pipe);
    return n;
}

/* Many who say nothing, or one byte a second: no more than a few are let in, they are hung up on,
 * the others come in their turn, and nobody's waiting costs anything. */
static void test_silent_ones(void **state)
{
    struct stand *stand = *state;
    double before_s = cpu_of(stand->server);
    size_t before = descriptors_of(stand->server), most = 0;
    int fd[3 * METRICS_HTTP_CLIENTS], wanted;

    for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
        fd[i] = try_dial(stand);
        assert_true(fd[i] >= 0);
    }
    for (size_t second = 0; second < METRICS_HTTP_LIFE_S + 3; second++) {
        size_t now = descriptors_of(stand->server);

        most = now > most ? now : most;
        say(fd[0], "x");
        sleep(1);
    }
    if (most > before + METRICS_HTTP_CLIENTS + 1)
        fail_msg("%zu descriptors, %zu before", most, before);
    assert_true(cpu_of(stand->server) - before_s < 1);
    for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++)
        close(fd[i]);
    wanted = try_dial(stand);
    say(wanted, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    free(hear_all(wanted));
    assert_serves(stand);
}

/* Whoever is connected, and says nothing or little: who asks is served, before most of them have
 * had ten seconds each. */
static void test_crowd(void **state)
{
    struct stand *stand = *state;
    int fd[8 * METRICS_HTTP_CLIENTS];

    for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
        fd[i] = try_dial(stand);
        assert_true(fd[i] >= 0);
        if (i % 2)
            say(fd[i], "G");
    }
    assert_serves(stand);
    for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++)
        close(fd[i]);
}

/* He asks, and does not read. Closing ends it. */
static void test_deaf_one(void **state)
{
    struct stand *stand = *state;
    int fd = try_dial(stand);

    for (size_t i = 0; i < 50; i++)
        say(fd, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_serves(stand);
    close(fd);
    assert_serves(stand);
}

static void test_many_in_turn(void **state)
{
    struct stand *stand = *state;
    size_t before, after = 0;

    assert_serves(stand);
    before = descriptors_of(stand->server);
    for (size_t i = 0; i < 100; i++)
        assert_serves(stand);
    for (size_t i = 0; i < 100; i++) { /* it may not have seen the last one close yet */
        after = descriptors_of(stand->server);
        if (after <= before)
            break;
        usleep(100000);
    }
    assert_true(after <= before);
}

/* ---- not at all ---- */

static void test_off(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct event_base *base = event_base_new();
    struct metrics_http *http = (struct metrics_http *)1;
    struct berth_error err = {""};

    (void)state;
    assert_int_equal(metrics_http_open(&http, base, &f->packer, &err), 0);
    assert_null(http);
    metrics_http_close(http);
    strcpy(f->packer.world.conf.metrics, "192.0.2.1:9110");
    assert_int_equal(metrics_http_open(&http, base, &f->packer, &err), -1);
    assert_null(http);
    strcpy(f->packer.world.conf.metrics, "127.0.0.1:0");
    strcpy(f->packer.world.conf.metrics_group, "no such group");
    assert_int_equal(metrics_http_open(&http, base, &f->packer, &err), -1);
    assert_null(http);
    event_base_free(base);
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_page, start_unix, halt),
        cmocka_unit_test_setup_teardown(test_page, start_port, halt),
        cmocka_unit_test_setup_teardown(test_steps_on_the_socket, start_unix, halt),
        cmocka_unit_test_setup_teardown(test_steps_on_the_socket, start_open_port, halt),
        cmocka_unit_test_setup_teardown(test_no_steps_on_a_port, start_port, halt),
        cmocka_unit_test_setup_teardown(test_a_port_has_no_other_names, start_port, halt),
        cmocka_unit_test_setup_teardown(test_nobody_is_kept_out, start_unix, halt),
        cmocka_unit_test_setup_teardown(test_head, start_unix, halt),
        cmocka_unit_test_setup_teardown(test_requests, start_unix, halt),
        cmocka_unit_test_setup_teardown(test_requests, start_port, halt),
        cmocka_unit_test_setup_teardown(test_long_headers, start_unix, halt),
        cmocka_unit_test_setup_teardown(test_silent_ones, start_unix, halt),
        cmocka_unit_test_setup_teardown(test_deaf_one, start_unix, halt),
        cmocka_unit_test_setup_teardown(test_crowd, start_port, halt),
        cmocka_unit_test_setup_teardown(test_many_in_turn, start_unix, halt),
        cmocka_unit_test(test_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
