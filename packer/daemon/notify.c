/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/daemon/notify.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "packer/hand/ask.h"
#include "packer/steps/together.h"

struct notify {
    struct sockaddr_un address;
    socklen_t length;
    int fd;
    const struct packer *packer;
    struct event *again; /* NULL: there is no watchdog */
    unsigned long long limit_us;
};

static void say(const struct notify *notify, const char *text)
{
    if (sendto(notify->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
               (const struct sockaddr *)&notify->address, notify->length) < 0)
        return; /* systemd acts as it does where nobody says anything */
}

/* At the latest when a half of the time is over, at an instant at which other nodes do it, too. */
static void say_again_later(const struct notify *notify)
{
    double half_s = (double)notify->limit_us / 2e6, now_s = clock_s();
    double us = 1e6 * (together_next(notify->packer, now_s - half_s / 2, half_s) - now_s);
    struct timeval in = {.tv_sec = (time_t)(us / 1e6), .tv_usec = (suseconds_t)fmod(us, 1e6)};

    event_add(notify->again, &in);
}

/* berth-hand has to be there, too: this waits where it hangs. */
static void on_again(evutil_socket_t fd, short what, void *arg)
{
    const struct notify *notify = arg;

    (void)fd, (void)what;
    hand_hear();
    say(notify, "WATCHDOG=1");
    say_again_later(arg);
}

/* '@' begins the name of an abstract socket. */
static int set_address(struct notify *notify, const char *path)
{
    size_t length = strlen(path);

    if ((path[0] != '/' && path[0] != '@') || length >= sizeof(notify->address.sun_path))
        return -1;
    notify->address.sun_family = AF_UNIX;
    memcpy(notify->address.sun_path, path, length);
    if (path[0] == '@')
        notify->address.sun_path[0] = '\0';
    notify->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return 0;
}

/* Microseconds in which systemd wants to hear something of the main process, which is this one or
 * berth-hand; 0: it does not. */
static unsigned long long watchdog_us(void)
{
    const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    const pid_t main_pid = hand_is_apart() ? getppid() : getpid();

    if (!us || (pid && strtoll(pid, NULL, 10) != main_pid))
        return 0;
    return strtoull(us, NULL, 10);
}

static void begin_watchdog(struct notify *notify, struct event_base *base, unsigned long long us)
{
    notify->again = us ? event_new(base, -1, 0, on_again, notify) : NULL;
    if (!notify->again)
        return;
    event_priority_set(notify->again, 0); /* however much there is to do, the loop turns */
    notify->limit_us = us;
    say_again_later(notify);
    say(notify, "WATCHDOG=1");
}

struct notify *notify_open(struct event_base *base, const struct packer *packer)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct notify *notify = path ? calloc(1, sizeof(*notify)) : NULL;

    if (!notify)
        return NULL;
    notify->packer = packer;
    notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (notify->fd < 0 || set_address(notify, path) < 0) {
        notify_close(notify);
        return NULL;
    }
    say(notify, "READY=1");
    begin_watchdog(notify, base, watchdog_us());
    unsetenv("NOTIFY_SOCKET"); /* nobody else's business: berthd's children inherit the rest */
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    return notify;
}

double notify_watchdog_s(const struct notify *notify)
{
    return notify ? (double)notify->limit_us / 1e6 : 0;
}

void notify_close(struct notify *notify)
{
    if (!notify)
        return;
    if (notify->again)
        event_free(notify->again);
    if (notify->length)
        say(notify, "STOPPING=1");
    if (notify->fd >= 0)
        close(notify->fd);
    free(notify);
}
