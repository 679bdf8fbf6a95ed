/* SPDX-License-Identifier: GPL-2.0-or-later */
/* missed - see missed.h. The file is taken away by its name first: who appends meanwhile begins
 * another one. A slurmstepd that had it open already, and is not done by then, has left its note
 * for nobody: the notes are counts, no orders. */
#include "packer/daemon/missed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/file.h"

static void path_of(const struct packer *packer, const char *suffix, char path[PATH_MAX])
{
    const char *socket = packer->world.conf.socket, *slash = strrchr(socket, '/');

    snprintf(path, PATH_MAX, "%.*s/%s%s", slash ? (int)(slash - socket) : 0, socket,
             WIRE_MISSED_FILE, suffix);
}

/* Reads the file; NULL: it is not there, or somebody else could have written it. */
static char *read_missed(const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat stat_of;
    char *text = NULL;
    size_t length;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &stat_of) == 0 && S_ISREG(stat_of.st_mode) && stat_of.st_uid == geteuid() &&
        (stat_of.st_mode & 022) == 0)
        text = file_read_fd(fd, WIRE_MISSED_MAX, &length);
    else
        log_warn("%s: not root's alone to write: not read", path);
    close(fd);
    return text;
}

static bool tell(const struct packer *packer, const char *line,
                 void (*hear)(const struct packer *packer, const struct wire_end *end))
{
    struct wire_request request;
    struct berth_error err = {"not the end of a step"};
    bool told = false;

    if (wire_request_decode(line, strlen(line), &request, &err) < 0) {
        log_warn("%s: %s", WIRE_MISSED_FILE, err.text);
        return false;
    }
    if (request.op == WIRE_OP_END && request.end.late) {
        hear(packer, &request.end);
        told = true;
    }
    wire_request_clear(&request);
    return told;
}

void missed_read(const struct packer *packer,
                 void (*hear)(const struct packer *packer, const struct wire_end *end))
{
    char path[PATH_MAX], taken[PATH_MAX], *text, *line, *rest;
    size_t n = 0;

    path_of(packer, "", path);
    path_of(packer, ".taken", taken);
    if (rename(path, taken) < 0)
        return;
    text = read_missed(taken);
    unlink(taken);
    for (line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        n += tell(packer, line, hear);
    if (n)
        log_info("%zu steps came and went while there was no berthd", n);
    free(text);
}
