/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_notify - what systemd is told, on a socket of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "packer/daemon/notify.h"

static struct packer packer; /* together = off: instants of its own */

struct stand {
    struct event_base *base;
    int fd;
};

/* An abstract socket, named by this process. */
static int start(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stand *stand = calloc(1, sizeof(*stand));
    char name[64];
    int length = snprintf(name, sizeof(name), "@berth-test-notify-%d", (int)getpid());

    memcpy(address.sun_path + 1, name + 1, (size_t)length - 1);
    stand->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (bind(stand->fd, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)length)) < 0)
        return -1;
    setenv("NOTIFY_SOCKET", name, 1);
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    stand->base = event_base_new();
    *state = stand;
    return 0;
}

static int halt(void **state)
{
    struct stand *stand = *state;

    event_base_free(stand->base);
    close(stand->fd);
    free(stand);
    unsetenv("NOTIFY_SOCKET");
    return 0;
}

static void assert_told(const struct stand *stand, const char *what)
{
    char text[64];
    ssize_t got = recv(stand->fd, text, sizeof(text) - 1, 0);

    assert_true(got > 0);
    text[got] = '\0';
    assert_string_equal(text, what);
}

static void assert_told_nothing(const struct stand *stand)
{
    char text[64];

    assert_int_equal(recv(stand->fd, text, sizeof(text), MSG_DONTWAIT), -1);
}

static void test_ready_and_stopping(void **state)
{
    struct stand *stand = *state;
    struct notify *notify = notify_open(stand->base, &packer);

    assert_non_null(notify);
    assert_told(stand, "READY=1");
    assert_null(getenv("NOTIFY_SOCKET"));
    assert_told_nothing(stand);
    notify_close(notify);
    assert_told(stand, "STOPPING=1");
}

/* It is the loop that says so: as long as it does not turn, nothing is said. */
static void test_watchdog(void **state)
{
    struct stand *stand = *state;
    struct notify *notify;

    setenv("WATCHDOG_USEC", "20000", 1);
    notify = notify_open(stand->base, &packer);
    assert_told(stand, "READY=1");
    assert_told(stand, "WATCHDOG=1");
    assert_true(notify_watchdog_s(notify) == 0.02);
    usleep(50000);
    assert_told_nothing(stand);
    for (int i = 0; i < 3; i++) {
        event_base_loop(stand->base, EVLOOP_ONCE);
        assert_told(stand, "WATCHDOG=1");
    }
    notify_close(notify);
}

static void test_watchdog_of_another(void **state)
{
    struct stand *stand = *state;
    struct notify *notify;

    setenv("WATCHDOG_USEC", "20000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    notify = notify_open(stand->base, &packer);
    assert_told(stand, "READY=1");
    assert_told_nothing(stand);
    assert_true(notify_watchdog_s(notify) == 0);
    notify_close(notify);
}

static void test_nobody_wants_to_know(void **state)
{
    struct stand *stand = *state;

    unsetenv("NOTIFY_SOCKET");
    assert_null(notify_open(stand->base, &packer));
    setenv("NOTIFY_SOCKET", "relative", 1);
    assert_null(notify_open(stand->base, &packer));
    notify_close(NULL);
}

#define test(name) cmocka_unit_test_setup_teardown(name, start, halt)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_ready_and_stopping),
        test(test_watchdog),
        test(test_watchdog_of_another),
        test(test_nobody_wants_to_know),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
