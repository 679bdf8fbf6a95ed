/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_queue - see ledger/queue.h */
#include "packer/ledger/queue.h"

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
#include <unistd.h>

#include "packer/base/log.h"

#define REFUSED "refused.jsonl"

struct place {
    char path[PATH_MAX];
    int dir;
};

struct ledger_queue {
    struct place spool, disk;
    int lock;
    int segment;           /* that lines on the disk are added to; -1 none yet */
    off_t segment_length;  /* of whole lines in it */
    uint64_t newest;       /* the greatest number that was ever used, in both folders */
    pthread_mutex_t mutex; /* for what follows; held for a write or an exchange only */
    int fd;                /* the spool file, O_APPEND */
    off_t length;          /* of whole lines in it */
    uint64_t number;
};

static int fail(const struct place *place, const char *name, struct berth_error *err)
{
    return berth_error_set(err, "%.300s/%.32s: %s", place->path, name, strerror(errno));
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

static int open_place(struct place *place, struct berth_error *err)
{
    char *slash = strrchr(place->path, '/');

    if (slash && slash > place->path) {
        *slash = '\0';
        mkdir(place->path, 0755);
        *slash = '/';
    }
    if (mkdir(place->path, 0700) < 0 && errno != EEXIST)
        return fail(place, "", err);
    place->dir = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return place->dir < 0 ? fail(place, "", err) : 0;
}

static int lock(struct ledger_queue *queue, struct berth_error *err)
{
    queue->lock = openat(queue->disk.dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (queue->lock < 0)
        return fail(&queue->disk, "lock", err);
    if (flock(queue->lock, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno == EWOULDBLOCK)
        return berth_error_set(err, "%.300s: in use by another process", queue->disk.path);
    return fail(&queue->disk, "lock", err);
}

/* A new file's descriptor. */
static int create(struct ledger_queue *queue, const struct place *place, uint64_t *number,
                  struct berth_error *err)
{
    char name[32];
    int fd;

    *number = ++queue->newest;
    name_of(*number, name);
    fd = openat(place->dir, name, O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    return fd < 0 ? fail(place, name, err) : fd;
}

/* What an earlier process has left. */
static int count_left(struct ledger_queue *queue, size_t *waiting, struct berth_error *err)
{
    const struct place *place[] = {&queue->spool, &queue->disk};

    *waiting = 0;
    for (size_t i = 0; i < 2; i++) {
        uint64_t newest;
        size_t lines;

        if (count_all(place[i]->dir, &lines, &newest) < 0)
            return fail(place[i], "", err);
        *waiting += lines;
        if (newest > queue->newest)
            queue->newest = newest;
    }
    return 0;
}

int ledger_queue_open(struct ledger_queue **out, const char *spool, const char *folder,
                      size_t *waiting, struct berth_error *err)
{
    struct ledger_queue *queue = calloc(1, sizeof(*queue));

    if (!queue)
        return berth_error_set(err, "out of memory");
    snprintf(queue->spool.path, sizeof(queue->spool.path), "%s", spool);
    snprintf(queue->disk.path, sizeof(queue->disk.path), "%s", folder);
    queue->spool.dir = queue->disk.dir = queue->lock = queue->segment = queue->fd = -1;
    pthread_mutex_init(&queue->mutex, NULL);
    if (open_place(&queue->disk, err) == 0 && lock(queue, err) == 0 &&
        open_place(&queue->spool, err) == 0 && count_left(queue, waiting, err) == 0 &&
        (queue->fd = create(queue, &queue->spool, &queue->number, err)) >= 0) {
        *out = queue;
        return 0;
    }
    ledger_queue_close(queue);
    return -1;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void ledger_queue_close(struct ledger_queue *queue)
{
    char name[32];

    if (!queue)
        return;
    name_of(queue->number, name);
    if (queue->fd >= 0 && queue->length == 0)
        unlinkat(queue->spool.dir, name, 0);
    close_fd(queue->fd);
    close_fd(queue->segment);
    close_fd(queue->spool.dir);
    close_fd(queue->disk.dir);
    close_fd(queue->lock);
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
        rc = fail(&queue->spool, "", err);
        if (wrote > 0)
            mend(queue);
    }
    pthread_mutex_unlock(&queue->mutex);
    return rc;
}

/* ---- the other thread: to the disk ---- */

/* Lines that are appended from now on go to a new spool file, where the present one has any. 0, or
 * -1 and err. */
static int turn_spool(struct ledger_queue *queue, struct berth_error *err)
{
    uint64_t number;
    bool empty;
    int fd, before;

    pthread_mutex_lock(&queue->mutex);
    empty = queue->length == 0;
    pthread_mutex_unlock(&queue->mutex);
    if (empty)
        return 0;
    fd = create(queue, &queue->spool, &number, err);
    if (fd < 0)
        return -1;
    pthread_mutex_lock(&queue->mutex);
    before = queue->fd;
    queue->fd = fd;
    queue->number = number;
    queue->length = 0;
    pthread_mutex_unlock(&queue->mutex);
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

/* Have a segment to add lines to. */
static int have_segment(struct ledger_queue *queue, struct berth_error *err)
{
    uint64_t number;

    if (queue->segment >= 0)
        return 0;
    queue->segment = create(queue, &queue->disk, &number, err);
    queue->segment_length = 0;
    if (queue->segment < 0)
        return -1;
    fsync(queue->disk.dir); /* its name; where that fails the lines are still written */
    return 0;
}

/* What was added to the segment holds, when the disk has it; else it is as it was before. */
static int settle(struct ledger_queue *queue, int rc, struct berth_error *err)
{
    struct stat st;

    if (rc == 0 && fdatasync(queue->segment) == 0 && fstat(queue->segment, &st) == 0) {
        queue->segment_length = st.st_size;
        return 0;
    }
    fail(&queue->disk, "", err);
    if (ftruncate(queue->segment, queue->segment_length) < 0) {
        close(queue->segment); /* it ends in a part of a line: no more is added to it */
        queue->segment = -1;
    }
    return -1;
}

/* Copy a file's whole lines to the segment. */
static int copy(struct ledger_queue *queue, FILE *file, const char *name)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int rc = 0;

    while (rc == 0 && (length = getline(&line, &room, file)) > 0)
        if (line[length - 1] == '\n')
            rc = write_all(queue->segment, line, (size_t)length);
        else
            log_warn("ledger: %s/%s: its last line is torn (%zd bytes): skipped", queue->spool.path,
                     name, length);
    free(line);
    return rc == 0 && ferror(file) ? -1 : rc;
}

static int store_file(struct ledger_queue *queue, uint64_t number, struct berth_error *err)
{
    char name[32];
    FILE *file;
    int fd, rc;

    name_of(number, name);
    fd = openat(queue->spool.dir, name, O_RDONLY | O_CLOEXEC);
    file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!file) {
        close_fd(fd);
        return fail(&queue->spool, name, err);
    }
    rc = settle(queue, copy(queue, file, name), err);
    fclose(file);
    if (rc == 0 && unlinkat(queue->spool.dir, name, 0) < 0)
        rc = fail(&queue->spool, name, err);
    return rc;
}

/* All spool files but the one that is appended to. */
static int store_spool(struct ledger_queue *queue, struct berth_error *err)
{
    uint64_t number = 0;

    while (find(queue->spool.dir, number, &number) == 0) {
        if (number == 0 || number == queue->number)
            return 0;
        if (have_segment(queue, err) < 0 || store_file(queue, number, err) < 0)
            return -1;
    }
    return fail(&queue->spool, "", err);
}

int ledger_queue_store(struct ledger_queue *queue, char *const *line, size_t n,
                       struct berth_error *err)
{
    int rc = 0;

    if (turn_spool(queue, err) < 0 || store_spool(queue, err) < 0)
        return -1;
    if (n == 0)
        return 0;
    if (have_segment(queue, err) < 0)
        return -1;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = write_all(queue->segment, line[i], strlen(line[i]));
    return settle(queue, rc, err);
}

/* ---- and away ---- */

int ledger_queue_next(struct ledger_queue *queue, uint64_t after, uint64_t *number, char *path,
                      size_t size, struct berth_error *err)
{
    uint64_t spooled;
    bool on_disk;
    char name[32];

    close_fd(queue->segment);
    queue->segment = -1;
    if (find(queue->disk.dir, after, number) < 0)
        return fail(&queue->disk, "", err);
    if (find(queue->spool.dir, after, &spooled) < 0)
        return fail(&queue->spool, "", err);
    if (spooled == queue->number) /* the newest of them */
        spooled = 0;
    on_disk = *number && (!spooled || *number < spooled);
    if (!on_disk)
        *number = spooled;
    if (*number == 0)
        return 0;
    name_of(*number, name);
    snprintf(path, size, "%s/%s", on_disk ? queue->disk.path : queue->spool.path, name);
    return 1;
}

int ledger_queue_done(struct ledger_queue *queue, uint64_t number, struct berth_error *err)
{
    char name[32];

    name_of(number, name);
    if (unlinkat(queue->disk.dir, name, 0) < 0 && errno != ENOENT)
        return fail(&queue->disk, name, err);
    if (unlinkat(queue->spool.dir, name, 0) < 0 && errno != ENOENT)
        return fail(&queue->spool, name, err);
    return 0;
}

int ledger_queue_aside(struct ledger_queue *queue, const char *line, size_t length,
                       struct berth_error *err)
{
    int fd = openat(queue->disk.dir, REFUSED, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    int rc = -1;

    if (fd < 0)
        return fail(&queue->disk, REFUSED, err);
    while (length && line[length - 1] == '\n')
        length--;
    if (write_all(fd, line, length) == 0 && write_all(fd, "\n", 1) == 0)
        rc = fdatasync(fd);
    if (rc < 0)
        fail(&queue->disk, REFUSED, err);
    close(fd);
    return rc;
}
