/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unix_socket.c: what is at the path is replaced only if a dead daemon has left it. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/system/unix_socket.h"

static char folder[32], path[64];

static int make(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/berth-socket-XXXXXX");
    snprintf(path, sizeof(path), "%s/run/s", mkdtemp(folder));
    return 0;
}

static int unmake(void **state)
{
    char run[64];

    (void)state;
    unlink(path);
    snprintf(run, sizeof(run), "%s/run", folder);
    rmdir(run);
    return rmdir(folder);
}

static void test_dead_and_live(void **state)
{
    struct berth_error err;
    struct stat st;
    int fd = unix_socket_bind(path, 0600, &err);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    close(fd); /* died: the path is still there */
    fd = unix_socket_bind(path, 0600, &err);
    assert_true(fd >= 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(unix_socket_bind(path, 0600, &err), -1);
    assert_non_null(strstr(err.text, "another berthd answers there"));
    close(fd);
}

/* Who listens knows his file from another that was put in its place, and who has come. */
static void test_whose_it_is(void **state)
{
    struct unix_socket_file file, other;
    struct berth_error err;
    int first = unix_socket_listen(path, 0600, &file, &err), second, pair[2];

    (void)state;
    assert_true(first >= 0);
    assert_true(unix_socket_is_at(path, &file));
    assert_int_equal(unlink(path), 0);
    assert_false(unix_socket_is_at(path, &file));
    second = unix_socket_listen(path, 0600, &other, &err);
    assert_true(second >= 0);
    assert_true(unix_socket_is_at(path, &other));
    assert_false(unix_socket_is_at(path, &file));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(unix_socket_peer(pair[0]), geteuid());
    close(pair[0]);
    assert_int_equal(unix_socket_peer(pair[0]), (uid_t)-1);
    close(pair[1]);
    close(first);
    close(second);
}

/* A path for which sockaddr_un has no room fails, and is not cut. */
static void test_too_long(void **state)
{
    char name[PATH_MAX];
    struct berth_error err;

    (void)state;
    for (size_t length = 108; length < sizeof(name); length += 7) {
        memset(name, 'x', length);
        name[length] = '\0';
        memcpy(name, "/proc/none/", 11);
        assert_int_equal(unix_socket_bind(name, 0600, &err), -1);
        assert_non_null(strstr(err.text, "File name too long"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_dead_and_live, make, unmake),
        cmocka_unit_test_setup_teardown(test_whose_it_is, make, unmake),
        cmocka_unit_test_setup_teardown(test_too_long, make, unmake),
    };

    return cmocka_run_group_tests_name("unix_socket", tests, NULL, NULL);
}
