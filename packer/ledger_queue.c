/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_queue - see ledger_queue.h */
#include "ledger_queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REFUSED "refused.jsonl"

struct ledger_queue {
    char folder[PATH_MAX];
    int dir, lock;
    pthread_mutex_t mutex; /* for the present segment; held for a write or an exchange only */
    int fd;                /* O_APPEND */
    off_t length;          /* of whole lines in it */
    uint64_t number;
    uint64_t newest; /* the greatest number that was ever used */
};

static int fail(const struct ledger_queue *queue, const char *name, struct berth_error *err)
{
    return berth_error_set(err, "%.300s/%.32s: %s", queue->folder, name, strerror(errno));
}

static void name_of(uint64_t number, char name[32])
{
    snprintf(name, 32, "%020" PRIu64 ".jsonl", number);
}

/* The number of a segment by its name; 0: it is none. */
static uint64_t number_of(const char *name)
{
    uint64_t number = 0;
    size_t i = 0;

    for (; name[i] >= '0' && name[i] <= '9' && i < 20; i++)
        number = number * 10 + (uint64_t)(name[i] - '0');
    return i == 20 && strcmp(name + i, ".jsonl") == 0 ? number : 0;
}

/* The least number of a segment that is greater than `after`; 0: none. -1 with errno. */
static int find(int dir, uint64_t after, uint64_t *number)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    *number = 0;
    if (!list) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while ((entry = readdir(list))) {
        uint64_t found = number_of(entry->d_name);

        if (found > after && (*number == 0 || found < *number))
            *number = found;
    }
    closedir(list);
    return 0;
}

/* ---- counting ---- */

static int count_lines(int dir, uint64_t number, size_t *lines)
{
    char name[32], memory[65536];
    ssize_t got;
    int fd;

    name_of(number, name);
    fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1; /* delivered just now */
    while ((got = read(fd, memory, sizeof(memory))) > 0)
        for (ssize_t i = 0; i < got; i++)
            *lines += memory[i] == '\n';
    close(fd);
    return got < 0 ? -1 : 0;
}

static int count_all(int dir, size_t *lines, uint64_t *newest)
{
    uint64_t number = 0;

    *lines = 0;
    *newest = 0;
    while (find(dir, number, &number) == 0) {
        if (number == 0)
            return 0;
        *newest = number;
        if (count_lines(dir, number, lines) < 0)
            return -1;
    }
    return -1;
}

int ledger_queue_count(const char *folder, size_t *lines, struct berth_error *err)
{
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    uint64_t newest;

    *lines = 0;
    if (dir < 0 && errno == ENOENT)
        return 0;
    if (dir < 0 || count_all(dir, lines, &newest) < 0)
        rc = berth_error_set(err, "%.400s: %s", folder, strerror(errno));
    if (dir >= 0)
        close(dir);
    return rc;
}

/* ---- opening ---- */

static int open_folder(struct ledger_queue *queue, struct berth_error *err)
{
    char *slash = strrchr(queue->folder, '/');

    if (slash && slash > queue->folder) {
        *slash = '\0';
        mkdir(queue->folder, 0755);
        *slash = '/';
    }
    if (mkdir(queue->folder, 0700) < 0 && errno != EEXIST)
        return fail(queue, "", err);
    queue->dir = open(queue->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (queue->dir < 0)
        return fail(queue, "", err);
    queue->lock = openat(queue->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (queue->lock < 0)
        return fail(queue, "lock", err);
    if (flock(queue->lock, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK
                   ? berth_error_set(err, "%.300s: in use by another process", queue->folder)
                   : fail(queue, "lock", err);
    return 0;
}

/* A new segment's descriptor. */
static int create(struct ledger_queue *queue, uint64_t *number, struct berth_error *err)
{
    char name[32];
    int fd;

    *number = ++queue->newest;
    name_of(*number, name);
    fd = openat(queue->dir, name, O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(queue, name, err);
    fsync(queue->dir); /* its name; where that fails the file is still used */
    return fd;
}

int ledger_queue_open(struct ledger_queue **out, const char *folder, size_t *waiting,
                      struct berth_error *err)
{
    struct ledger_queue *queue = calloc(1, sizeof(*queue));

    if (!queue)
        return berth_error_set(err, "out of memory");
    snprintf(queue->folder, sizeof(queue->folder), "%s", folder);
    queue->dir = queue->lock = queue->fd = -1;
    pthread_mutex_init(&queue->mutex, NULL);
    if (open_folder(queue, err) == 0) {
        if (count_all(queue->dir, waiting, &queue->newest) < 0)
            fail(queue, "", err);
        else if ((queue->fd = create(queue, &queue->number, err)) >= 0) {
            *out = queue;
            return 0;
        }
    }
    ledger_queue_close(queue);
    return -1;
}

static void remove_segment(struct ledger_queue *queue, uint64_t number)
{
    char name[32];

    name_of(number, name);
    unlinkat(queue->dir, name, 0);
}

void ledger_queue_close(struct ledger_queue *queue)
{
    if (!queue)
        return;
    if (queue->fd >= 0) {
        close(queue->fd);
        if (queue->length == 0)
            remove_segment(queue, queue->number);
    }
    if (queue->dir >= 0)
        close(queue->dir);
    if (queue->lock >= 0)
        close(queue->lock);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}

/* ---- appending ---- */

/* After a part of a line: take it back, or else end it, so that it is a line of its own. */
static void mend(struct ledger_queue *queue)
{
    struct stat st;

    if (ftruncate(queue->fd, queue->length) == 0)
        return;
    (void)!write(queue->fd, "\n", 1);
    if (fstat(queue->fd, &st) == 0)
        queue->length = st.st_size;
}

int ledger_queue_append(struct ledger_queue *queue, const char *line, struct berth_error *err)
{
    size_t length = strlen(line);
    ssize_t wrote;
    int rc = 0;

    pthread_mutex_lock(&queue->mutex);
    wrote = write(queue->fd, line, length);
    if (wrote == (ssize_t)length) {
        queue->length += wrote;
    } else {
        if (wrote >= 0)
            errno = ENOSPC;
        rc = berth_error_set(err, "%.300s: %s", queue->folder, strerror(errno));
        if (wrote > 0)
            mend(queue);
    }
    pthread_mutex_unlock(&queue->mutex);
    return rc;
}

/* ---- the other thread ---- */

int ledger_queue_sync(struct ledger_queue *queue, struct berth_error *err)
{
    return fdatasync(queue->fd) < 0 ? fail(queue, "", err) : 0;
}

int ledger_queue_rotate(struct ledger_queue *queue, struct berth_error *err)
{
    uint64_t number;
    bool empty;
    int fd, before;

    pthread_mutex_lock(&queue->mutex);
    empty = queue->length == 0;
    pthread_mutex_unlock(&queue->mutex);
    if (empty)
        return 0;
    fd = create(queue, &number, err);
    if (fd < 0)
        return -1;
    pthread_mutex_lock(&queue->mutex);
    before = queue->fd;
    queue->fd = fd;
    queue->number = number;
    queue->length = 0;
    pthread_mutex_unlock(&queue->mutex);
    fdatasync(before); /* what fails here failed in the sync before, or will in the delivery */
    close(before);
    return 0;
}

static int write_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t wrote = write(fd, text, length);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return -1;
        text += wrote;
        length -= (size_t)wrote;
    }
    return 0;
}

int ledger_queue_spill(struct ledger_queue *queue, char *const *line, size_t n,
                       struct berth_error *err)
{
    uint64_t number;
    int fd = create(queue, &number, err), rc = 0;

    if (fd < 0)
        return -1;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = write_all(fd, line[i], strlen(line[i]));
    if (rc == 0)
        rc = fdatasync(fd);
    if (rc < 0) {
        fail(queue, "", err);
        remove_segment(queue, number);
    }
    close(fd);
    return rc;
}

int ledger_queue_next(struct ledger_queue *queue, uint64_t after, uint64_t *number, char *path,
                      size_t size, struct berth_error *err)
{
    char name[32];

    do {
        if (find(queue->dir, after, number) < 0)
            return fail(queue, "", err);
        after = *number;
    } while (*number && *number == queue->number);
    if (*number == 0)
        return 0;
    name_of(*number, name);
    snprintf(path, size, "%s/%s", queue->folder, name);
    return 1;
}

int ledger_queue_done(struct ledger_queue *queue, uint64_t number, struct berth_error *err)
{
    char name[32];

    name_of(number, name);
    return unlinkat(queue->dir, name, 0) < 0 && errno != ENOENT ? fail(queue, name, err) : 0;
}

int ledger_queue_aside(struct ledger_queue *queue, const char *line, size_t length,
                       struct berth_error *err)
{
    int fd = openat(queue->dir, REFUSED, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    int rc = -1;

    if (fd < 0)
        return fail(queue, REFUSED, err);
    while (length && line[length - 1] == '\n')
        length--;
    if (write_all(fd, line, length) == 0 && write_all(fd, "\n", 1) == 0)
        rc = fdatasync(fd);
    if (rc < 0)
        fail(queue, REFUSED, err);
    close(fd);
    return rc;
}
