/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fake_berthd - what berthctl talks to in its test: a socket that gives a canned answer.
 *
 *     fake_berthd [-b] SOCKET [FILE...]
 *
 * Every request line is printed on stdout; the answer is FILE as it is at that moment, then the
 * connection ends. Of several, each is an answer in its turn, the last one ever after. Without FILE
 * it accepts and never answers. With -b it is busy at first: its backlog is full for a while. It
 * ends with the process that started it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BUSY_MS 500

/* The socket has its name from when it answers. */
static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s.new", path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0)
        return -1;
    return rename(address.sun_path, path) == 0 ? fd : -1;
}

/* Connects until no connection is taken any more, and drops them all after BUSY_MS. */
static void be_busy(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd[64], n = 0;

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    do
        fd[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    while (connect(fd[n++], (struct sockaddr *)&address, sizeof(address)) == 0 && n < 64);
    puts("busy");
    fflush(stdout);
    usleep(BUSY_MS * 1000);
    while (n-- > 0)
        close(fd[n]);
}

/* Print what is asked, up to its newline. */
static void read_request(int fd)
{
    char c;

    while (read(fd, &c, 1) == 1) {
        putchar(c);
        if (c == '\n')
            break;
    }
    fflush(stdout);
}

static void send_file(int fd, const char *path)
{
    int file = open(path, O_RDONLY);
    struct stat st;

    if (file < 0)
        return;
    if (fstat(file, &st) == 0)
        for (off_t at = 0; at < st.st_size;)
            if (sendfile(fd, file, &at, (size_t)(st.st_size - at)) <= 0)
                break;
    close(file);
}

int main(int argc, char **argv)
{
    int busy = argc > 1 && strcmp(argv[1], "-b") == 0, next = 2, listener;

    argv += busy;
    argc -= busy;
    listener = argc > 1 ? listen_at(argv[1]) : -1;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    if (listener < 0) {
        perror("fake_berthd");
        return 1;
    }
    if (busy)
        be_busy(argv[1]);
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            return 1;
        read_request(fd);
        if (argc > 2) {
            send_file(fd, argv[next]);
            next += next + 1 < argc;
            close(fd);
        }
    }
}
