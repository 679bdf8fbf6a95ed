/* SPDX-License-Identifier: GPL-2.0-or-later */
/* note - see note.h */
#include "note.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens the notes; whoever could have made them for us is not followed. */
static int open_notes(const char *socket)
{
    const char *slash = strrchr(socket, '/');
    char path[PATH_MAX];

    if (!slash) {
        errno = EINVAL;
        return -1;
    }
    snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - socket), socket, WIRE_MISSED_FILE);
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

static int may_append(int fd, size_t length)
{
    struct stat stat_of;

    if (fstat(fd, &stat_of) < 0)
        return -1;
    if (!S_ISREG(stat_of.st_mode) || stat_of.st_uid != geteuid())
        errno = EPERM;
    else if ((size_t)stat_of.st_size + length > WIRE_MISSED_MAX)
        errno = EFBIG;
    else
        return 0;
    return -1;
}

int note_leave(const char *socket, const struct wire_request *request)
{
    char *line = wire_request_encode(request);
    int fd = line ? open_notes(socket) : -1, rc = -1, why;

    if (fd >= 0 && may_append(fd, strlen(line)) == 0) /* one write: lines do not mix */
        rc = write(fd, line, strlen(line)) == (ssize_t)strlen(line) ? 0 : -1;
    why = errno;
    if (fd >= 0)
        close(fd);
    free(line);
    errno = why;
    return rc;
}
