/* SPDX-License-Identifier: GPL-2.0-or-later */
/* origin - see origin.h */
#include "packer/memory/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/cpus.h"
#include "packer/base/file.h"
#include "packer/system/process_look.h"

#define LINE 64
#define HEAD "berth origin 1" /* the format's version; filled up to a line */

struct kept {
    struct memory_run run;
    size_t line; /* of the file, 0: the first after its head */
};

struct memory_origin {
    atomic_uint owners;
    int fd;
    size_t n, room;
    struct kept *kept; /* [n] ascending by process and address; they do not overlap */
};

/* ---- the file ---- */

/* Writes a line. 0, or -1 with errno. */
static int write_line(const struct memory_origin *origin, size_t at, const char *line)
{
    ssize_t done = pwrite(origin->fd, line, LINE, (off_t)(at * LINE));

    if (done >= 0 && done < LINE)
        errno = ENOSPC;
    return done == LINE ? 0 : -1;
}

static int write_head(const struct memory_origin *origin)
{
    char line[LINE + 1];

    snprintf(line, sizeof(line), "%-*s\n", LINE - 1, HEAD);
    return write_line(origin, 0, line);
}

/* A run that fills more than a line could not be read back. */
static int write_run(const struct memory_origin *origin, const struct kept *kept)
{
    const struct memory_run *run = &kept->run;
    char line[LINE + 1];
    int length =
        snprintf(line, sizeof(line), "%10d %16" PRIx64 " %15" PRIx64 " %15" PRIx64 " %3x\n",
                 (int)run->pid, run->started, run->start, run->end, (unsigned)run->node);

    if (length != LINE) {
        errno = EOVERFLOW;
        return -1;
    }
    return write_line(origin, kept->line + 1, line);
}

/* Reads a line. Returns whether it is one that write_run() writes. */
static bool read_run(const char *line, struct memory_run *run)
{
    char text[LINE + 1] = "";
    int length = 0;

    memcpy(text, line, LINE);
    return sscanf(text, "%10d %16" SCNx64 " %15" SCNx64 " %15" SCNx64 " %3x%n", &run->pid,
                  &run->started, &run->start, &run->end, (unsigned *)&run->node, &length) == 5 &&
           length == LINE - 1 && text[length] == '\n' && run->pid > 0 && run->start < run->end &&
           run->node >= 0 && run->node < CPUS_MAX;
}

/* ---- owners ---- */

static struct memory_origin *new_at(const char *path, int flags, struct berth_error *err)
{
    struct memory_origin *origin = calloc(1, sizeof(*origin));

    if (!origin) {
        berth_no_memory(err);
        return NULL;
    }
    atomic_init(&origin->owners, 1);
    origin->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (origin->fd >= 0)
        return origin;
    berth_error_set(err, "%s: %s", path, strerror(errno));
    free(origin);
    return NULL;
}

struct memory_origin *memory_origin_create(const char *path, struct berth_error *err)
{
    struct memory_origin *origin = new_at(path, O_CREAT | O_TRUNC, err);

    if (!origin || write_head(origin) == 0)
        return origin;
    berth_error_set(err, "%s: %s", path, strerror(errno));
    memory_origin_release(origin);
    unlink(path);
    return NULL;
}

struct memory_origin *memory_origin_hold(struct memory_origin *origin)
{
    atomic_fetch_add(&origin->owners, 1);
    return origin;
}

void memory_origin_release(struct memory_origin *origin)
{
    if (!origin || atomic_fetch_sub(&origin->owners, 1) != 1)
        return;
    close(origin->fd);
    free(origin->kept);
    free(origin);
}

/* ---- runs ---- */

static bool ends_before(const struct memory_run *run, pid_t pid, uint64_t started, uint64_t address)
{
    if (run->pid != pid)
        return run->pid < pid;
    if (!process_same(run->started, started))
        return run->started < started;
    return run->end <= address;
}

/* Returns the first run that ends behind that address. */
static size_t find_process(const struct memory_origin *origin, pid_t pid, uint64_t started,
                           uint64_t address)
{
    size_t low = 0, high = origin->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ends_before(&origin->kept[middle].run, pid, started, address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_same(const struct memory_run *run, pid_t pid, uint64_t started)
{
    return run->pid == pid && process_same(run->started, started);
}

/* Returns the i-th run where it is of that process, else NULL. */
static struct kept *of_process(const struct memory_origin *origin, size_t i, pid_t pid,
                               uint64_t started)
{
    return i < origin->n && is_same(&origin->kept[i].run, pid, started) ? &origin->kept[i] : NULL;
}

/* Lets the run before position i grow by this one, where it goes on there. 1, 0: it does not, or -1
 * with errno. */
static int grow(struct memory_origin *origin, size_t i, const struct memory_run *run)
{
    struct kept *before = i > 0 ? of_process(origin, i - 1, run->pid, run->started) : NULL;
    struct kept longer;

    if (!before || before->run.node != run->node || before->run.end != run->start)
        return 0;
    longer = *before;
    longer.run.end = run->end;
    if (write_run(origin, &longer) < 0)
        return -1;
    *before = longer;
    return 1;
}

/* Makes room for one more run. 0, or -1 with errno. */
static int make_room(struct memory_origin *origin)
{
    if (origin->n < MEMORY_ORIGIN_RUNS)
        return array_grow(&origin->kept, &origin->room, origin->n + 1, sizeof(*origin->kept));
    errno = E2BIG;
    return -1;
}

static void put_in(struct memory_origin *origin, size_t i, const struct kept *kept)
{
    memmove(&origin->kept[i + 1], &origin->kept[i], (origin->n - i) * sizeof(*kept));
    origin->kept[i] = *kept;
    origin->n++;
}

/* Notes a run of which nothing was noted, at position i. */
static int insert(struct memory_origin *origin, size_t i, const struct memory_run *run)
{
    struct kept kept = {*run, origin->n};
    int grown = grow(origin, i, run);

    if (grown != 0)
        return grown < 0 ? -1 : 0;
    if (make_room(origin) < 0 || write_run(origin, &kept) < 0)
        return -1;
    put_in(origin, i, &kept);
    return 0;
}

int memory_origin_add(struct memory_origin *origin, const struct memory_run *run)
{
    struct memory_run rest = *run, piece;

    while (rest.start < run->end) {
        size_t at = find_process(origin, run->pid, run->started, rest.start);
        const struct kept *next = of_process(origin, at, run->pid, run->started);

        piece = rest;
        if (next && next->run.start <= rest.start) {
            rest.start = next->run.end;
            continue;
        }
        if (next && next->run.start < rest.end)
            piece.end = next->run.start;
        rest.start = piece.end;
        if (insert(origin, at, &piece) < 0)
            return -1;
    }
    return 0;
}

int memory_origin_node(const struct memory_origin *origin, pid_t pid, uint64_t started,
                       uint64_t address)
{
    size_t at = find_process(origin, pid, started, address);
    const struct kept *kept = of_process(origin, at, pid, started);

    return kept && kept->run.start <= address ? kept->run.node : -1;
}

/* ---- reading it back ---- */

/* Reads a line into a run of pages. 0, or -1 with errno (EBADMSG: the line is no run, or the run
 * overlaps another one). */
static int take_line(struct memory_origin *origin, size_t number, const char *line)
{
    struct kept kept = {.line = number};
    const struct kept *next;
    size_t at;

    if (!read_run(line, &kept.run))
        return errno = EBADMSG, -1;
    at = find_process(origin, kept.run.pid, kept.run.started, kept.run.start);
    next = of_process(origin, at, kept.run.pid, kept.run.started);
    if (next && next->run.start < kept.run.end)
        return errno = EBADMSG, -1;
    if (make_room(origin) < 0)
        return -1;
    put_in(origin, at, &kept);
    return 0;
}

/* Takes in the file's lines. 0, or -1 and err, without the path. */
static int take_lines(struct memory_origin *origin, const char *text, size_t length,
                      struct berth_error *err)
{
    if (length < LINE || strncmp(text, HEAD " ", strlen(HEAD " ")) != 0)
        return berth_error_set(err, "not of this version of berth");
    for (size_t line = 1; (line + 1) * LINE <= length; line++)
        if (take_line(origin, line - 1, text + line * LINE) < 0)
            return berth_error_set(err, "line %zu: %s", line + 1,
                                   errno == EBADMSG ? "damaged" : strerror(errno));
    return 0;
}

struct memory_origin *memory_origin_open(const char *path, struct berth_error *err)
{
    struct memory_origin *origin = new_at(path, 0, err);
    struct berth_error why;
    size_t length;
    char *text;
    int rc = -1;

    if (!origin)
        return NULL;
    text = file_read_fd(origin->fd, (MEMORY_ORIGIN_RUNS + 2) * LINE, &length);
    if (text)
        rc = take_lines(origin, text, length, &why);
    else
        berth_error_set(&why, "%s", strerror(errno));
    free(text);
    if (rc == 0)
        return origin;
    berth_error_set(err, "%s: %s", path, why.text);
    memory_origin_release(origin);
    return NULL;
}
