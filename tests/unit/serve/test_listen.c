/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_listen - a socket without descriptors, in a storm, and with its file gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "packer/base/log.h"
#include "packer/serve/listen.h"
#include "tests/unit/common/folder.h"

#define FEW 40

struct stand {
    char folder[64], path[100];
    struct event_base *base;
    struct listener *listener;
    unsigned came;
    int kept, log; /* stderr, and what is said there */
};

static void on_connection(int fd, void *arg)
{
    ((struct stand *)arg)->came++;
    close(fd);
}

static int start(void **state)
{
    struct stand *stand = calloc(1, sizeof(*stand));
    struct berth_error err = {""};
    int ends[2];

    strcpy(stand->folder, "/tmp/berth-listen-XXXXXX");
    if (!mkdtemp(stand->folder))
        return -1;
    snprintf(stand->path, sizeof(stand->path), "%s/s", stand->folder);
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    stand->kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    stand->log = ends[0];
    stand->base = event_base_new();
    if (listener_open(&stand->listener, stand->base, stand->path, 0600, 0, on_connection, stand,
                      &err) < 0)
        fail_msg("%s", err.text);
    *state = stand;
    return 0;
}

static int halt(void **state)
{
    struct stand *stand = *state;

    dup2(stand->kept, STDERR_FILENO);
    listener_close(stand->listener);
    event_base_free(stand->base);
    folder_remove(stand->folder);
    close(stand->kept);
    close(stand->log);
    free(stand);
    return 0;
}

/* A connection that the listener has not taken yet, or -1. */
static int dial(const struct stand *stand)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    strcpy(address.sun_path, stand->path);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Lets the loop turn until so many have come, with no end where they do not. */
static void turn_until(struct stand *stand, unsigned came)
{
    while (stand->came < came)
        event_base_loop(stand->base, EVLOOP_ONCE);
}

static size_t lines(const struct stand *stand)
{
    char text[8192];
    ssize_t got = read(stand->log, text, sizeof(text));
    size_t n = 0;

    for (ssize_t i = 0; i < got; i++)
        n += text[i] == '\n';
    return n;
}

static void test_mode(void **state)
{
    struct stand *stand = *state;
    struct stat st;

    assert_int_equal(stat(stand->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

/* However many come, a turn of the loop takes some of them. */
static void test_storm(void **state)
{
    struct stand *stand = *state;
    int fd[FEW];

    for (size_t i = 0; i < FEW; i++)
        assert_true((fd[i] = dial(stand)) >= 0);
    event_base_loop(stand->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    assert_in_range(stand->came, 1, FEW / 2);
    turn_until(stand, FEW);
    for (size_t i = 0; i < FEW; i++)
        close(fd[i]);
}

/* No descriptor is left: one line, and no turn of the loop but now and then. */
static void test_no_descriptors(void **state)
{
    struct stand *stand = *state;
    struct rlimit limit, few;
    int fd = dial(stand), next = dup(fd), turns = 0;

    getrlimit(RLIMIT_NOFILE, &limit);
    few = limit;
    few.rlim_cur = (rlim_t)next;
    close(next);
    setrlimit(RLIMIT_NOFILE, &few);
    for (; turns < 1000; turns++)
        event_base_loop(stand->base, EVLOOP_NONBLOCK);
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(stand->came, 0);
    assert_int_equal(lines(stand), 1);
    turn_until(stand, 1);
    close(fd);
}

static void test_removed(void **state)
{
    struct stand *stand = *state;
    struct stat st;
    int fd;

    assert_false(listener_check(stand->listener));
    unlink(stand->path);
    assert_true(listener_check(stand->listener));
    assert_false(listener_check(stand->listener));
    assert_int_equal(lines(stand), 1);
    assert_int_equal(stat(stand->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_true((fd = dial(stand)) >= 0);
    turn_until(stand, 1);
    close(fd);
}

static void test_folder_removed(void **state)
{
    struct stand *stand = *state;
    int fd;

    unlink(stand->path);
    assert_int_equal(rmdir(stand->folder), 0);
    assert_true(listener_check(stand->listener));
    assert_true((fd = dial(stand)) >= 0);
    turn_until(stand, 1);
    close(fd);
}

/* Another daemon has the path: it keeps it, and what is its own is not removed. */
static void test_taken_by_another(void **state)
{
    struct stand *stand = *state;
    struct berth_error err;
    struct listener *other;
    struct stat st;

    unlink(stand->path);
    assert_int_equal(
        listener_open(&other, stand->base, stand->path, 0600, 0, on_connection, stand, &err), 0);
    for (int i = 0; i < 5; i++)
        assert_false(listener_check(stand->listener));
    assert_int_equal(lines(stand), 1);
    listener_close(stand->listener);
    stand->listener = NULL;
    assert_int_equal(stat(stand->path, &st), 0);
    listener_close(other);
    assert_int_equal(stat(stand->path, &st), -1);
}

#define test(name) cmocka_unit_test_setup_teardown(name, start, halt)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_mode),    test(test_storm),          test(test_no_descriptors),
        test(test_removed), test(test_folder_removed), test(test_taken_by_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
