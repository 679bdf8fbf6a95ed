/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tell SOCKET LINE - stands in for the plugin where a test wants to say what no plugin here would:
 * sends the line to berthd, and prints what comes back until berthd hangs up. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[4096];
    ssize_t got;

    if (argc != 3 || strlen(argv[1]) >= sizeof(address.sun_path)) {
        fprintf(stderr, "usage: tell SOCKET LINE\n");
        return 2;
    }
    strcpy(address.sun_path, argv[1]);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        dprintf(fd, "%s\n", argv[2]) < 0 || shutdown(fd, SHUT_WR) < 0) {
        perror(argv[1]);
        return 1;
    }
    while ((got = read(fd, text, sizeof(text))) > 0)
        fwrite(text, 1, (size_t)got, stdout);
    return got < 0;
}
