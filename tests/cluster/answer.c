/* SPDX-License-Identifier: GPL-2.0-or-later */
/* answer SOCKET hang | close | LINE - stands in for berthd where the plugin must cope with a bad
 * one.
 *
 * Each connection gets the same: "hang" reads and never answers, "close" reads one request and
 * hangs up (as a daemon that dies in the middle does), anything else is sent as the answer. Runs
 * until it is killed. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
        return -1;
    strcpy(address.sun_path, path);
    unlink(path);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 64) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* One request, up to its newline. */
static void request_read(int fd)
{
    char buffer[4096];
    ssize_t n;

    do
        n = read(fd, buffer, sizeof(buffer));
    while (n > 0 && !memchr(buffer, '\n', (size_t)n));
}

int main(int argc, char **argv)
{
    int listener = argc == 3 ? listen_at(argv[1]) : -1;

    if (listener < 0) {
        fprintf(stderr, "usage: answer SOCKET hang|close|LINE, with a SOCKET that can be made\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN); /* who asked may be gone */
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            return 1;
        request_read(fd);
        if (strcmp(argv[2], "hang") == 0)
            continue; /* keeps it open */
        if (strcmp(argv[2], "close") != 0)
            dprintf(fd, "%s\n", argv[2]);
        close(fd);
    }
}
