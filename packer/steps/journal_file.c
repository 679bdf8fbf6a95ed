/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal_file - see journal_file.h
 *
 * The lock lies beside the journal ("PATH.lock"), so that a rename over the journal does not lose
 * it. */
#include "packer/steps/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "packer/base/json.h"

#define LOCK_PATIENCE_S 2
#define LOCK_PAUSE_NS 10000000

struct journal_file {
    int fd;      /* the journal, O_APPEND */
    int lock_fd; /* PATH.lock, held with flock(2) and holding our pid as text */
    size_t size; /* bytes of complete lines */
    char path[PATH_MAX];
};

/* The pid that wrote itself into the lock file; 0 unknown. */
static long lock_holder(int fd)
{
    char text[32] = "";
    long pid;

    if (pread(fd, text, sizeof(text) - 1, 0) <= 0 || sscanf(text, "%ld", &pid) != 1)
        return 0;
    return pid;
}

/* Takes the lock. A berthd that was killed keeps it until the last of its threads has come back
 * from the disk, so the lock is waited for, a moment. Returns 0, or -1 with errno. */
static int take_lock(int fd)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    const double until_s = clock_s() + LOCK_PATIENCE_S;

    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK || clock_s() >= until_s)
            return -1;
        nanosleep(&pause, NULL);
    }
    return 0;
}

static int lock(struct journal_file *journal, struct berth_error *err)
{
    char path[PATH_MAX + 8];
    long holder;

    snprintf(path, sizeof(path), "%s.lock", journal->path);
    journal->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (journal->lock_fd < 0)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    if (take_lock(journal->lock_fd) == 0) {
        /* the pid is for people: a full disk must not keep the daemon from undoing what it did */
        if (ftruncate(journal->lock_fd, 0) == 0)
            dprintf(journal->lock_fd, "%ld\n", (long)getpid());
        return 0;
    }
    if (errno != EWOULDBLOCK)
        return berth_error_set(err, "%s: cannot lock: %s", path, strerror(errno));
    holder = lock_holder(journal->lock_fd);
    if (holder > 0)
        return berth_error_set(err, "%s: in use by process %ld", journal->path, holder);
    return berth_error_set(err, "%s: in use by another process", journal->path);
}

/* Returns the whole journal as it is in the file; the caller frees it. NULL with errno. */
static char *read_journal(int fd, size_t *length)
{
    return lseek(fd, 0, SEEK_SET) < 0 ? NULL : file_read_fd(fd, SIZE_MAX, length);
}

/* Cut off what follows the last newline: a line that was being written when berthd died. */
static int cut_torn_line(struct journal_file *journal, struct berth_error *err)
{
    size_t length;
    char *text = read_journal(journal->fd, &length), *newline;

    if (!text)
        return berth_error_set(err, "%s: %s", journal->path, strerror(errno));
    newline = memrchr(text, '\n', length);
    journal->size = newline ? (size_t)(newline - text) + 1 : 0;
    free(text);
    if (journal->size != length && ftruncate(journal->fd, (off_t)journal->size) < 0)
        return berth_error_set(err, "%s: cannot cut off a torn line: %s", journal->path,
                               strerror(errno));
    return 0;
}

int journal_file_open(struct journal_file **out, const char *path, struct berth_error *err)
{
    struct journal_file *journal = calloc(1, sizeof(*journal));

    if (!journal)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    journal->fd = journal->lock_fd = -1;
    if (strlen(path) >= sizeof(journal->path)) {
        berth_error_set(err, "%.64s...: the path is too long", path);
        goto fail;
    }
    strcpy(journal->path, path);
    if (lock(journal, err) < 0)
        goto fail;
    journal->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (journal->fd < 0) {
        berth_error_set(err, "%s: %s", path, strerror(errno));
        goto fail;
    }
    if (cut_torn_line(journal, err) < 0)
        goto fail;
    *out = journal;
    return 0;
fail:
    journal_file_close(journal);
    return -1;
}

void journal_file_close(struct journal_file *journal)
{
    if (!journal)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    if (journal->lock_fd >= 0)
        close(journal->lock_fd); /* and with it the lock */
    free(journal);
}

/* Visit the line text[length]. 1 when visit wants no more, 0, or -1 and err. */
static int visit_line(const char *path, size_t number, const char *text, size_t length,
                      int (*visit)(struct json_object *, void *), void *arg,
                      struct berth_error *err)
{
    struct berth_error why = {""};
    struct json_object *entry = json_parse(text, length, &why);
    int stop;

    if (!json_object_is_type(entry, json_type_object)) {
        berth_error_set(err, "%s:%zu: not a JSON object%s%s", path, number, why.text[0] ? ": " : "",
                        why.text);
        json_object_put(entry);
        return -1;
    }
    stop = visit(entry, arg);
    json_object_put(entry);
    return stop != 0;
}

/* Visits the complete lines of text[length]. */
static int visit_lines(const char *path, const char *text, size_t length,
                       int (*visit)(struct json_object *, void *), void *arg,
                       struct berth_error *err)
{
    const char *line, *end;
    size_t number = 0;
    int rc = 0;

    for (line = text; rc == 0 && (end = memchr(line, '\n', length - (size_t)(line - text)));
         line = end + 1)
        rc = visit_line(path, ++number, line, (size_t)(end - line), visit, arg, err);
    return rc < 0 ? -1 : 0;
}

int journal_file_replay(struct journal_file *journal,
                        int (*visit)(struct json_object *entry, void *arg), void *arg,
                        struct berth_error *err)
{
    size_t length;
    char *text = read_journal(journal->fd, &length);
    int rc;

    if (!text)
        return berth_error_set(err, "%s: %s", journal->path, strerror(errno));
    rc = visit_lines(journal->path, text, length, visit, arg, err);
    free(text);
    return rc;
}

int journal_file_peek(const char *path, int (*visit)(struct json_object *entry, void *arg),
                      void *arg, struct berth_error *err)
{
    size_t length;
    char *text = file_read(path, SIZE_MAX, &length, err);
    int rc;

    if (!text)
        return errno == ENOENT ? 0 : berth_error_before(err, "%s: ", path);
    rc = visit_lines(path, text, length, visit, arg, err);
    free(text);
    return rc;
}

/* Append entry to the file of `size` bytes. 0, or -1 with errno and the file as long as it was.
 * What json-c has no memory for is missing in its text, and told by errno alone. */
static int append(int fd, size_t size, struct json_object *entry, size_t *added)
{
    const char *json;
    int saved, rc, length;
    char *line;

    errno = 0;
    json = json_object_to_json_string_ext(entry, JSON_C_TO_STRING_PLAIN);
    length = json && errno != ENOMEM ? asprintf(&line, "%s\n", json) : -1;
    if (length < 0) {
        errno = ENOMEM;
        return -1;
    }
    rc = file_write_fd(fd, line, (size_t)length) == (size_t)length ? 0 : -1;
    saved = errno;
    free(line);
    *added = (size_t)length;
    if (rc < 0 && ftruncate(fd, (off_t)size) < 0)
        saved = errno; /* the torn end is dropped by the next open */
    errno = saved;
    return rc;
}

int journal_file_append(struct journal_file *journal, struct json_object *entry,
                        struct berth_error *err)
{
    size_t added;

    if (append(journal->fd, journal->size, entry, &added) < 0)
        return berth_error_set(err, "%s: cannot append: %s", journal->path, strerror(errno));
    journal->size += added;
    return 0;
}

/* Write the entries into an empty file. 0, or -1 with errno. */
static int write_entries(int fd, size_t n, struct json_object *const *entry, size_t *size)
{
    size_t added;

    *size = 0;
    for (size_t i = 0; i < n; i++) {
        if (append(fd, *size, entry[i], &added) < 0)
            return -1;
        *size += added;
    }
    return 0;
}

int journal_file_rewrite(struct journal_file *journal, size_t n, struct json_object *const *entry,
                         struct berth_error *err)
{
    struct file_draft draft;
    size_t size;
    int fd = -1;

    if (file_draft_open(&draft, journal->path, 0) < 0)
        return berth_error_set(err, "%s: %s", draft.temporary, strerror(errno));
    if (write_entries(draft.fd, n, entry, &size) == 0)
        fd = fcntl(draft.fd, F_DUPFD_CLOEXEC, 0);
    if (file_draft_close(&draft, 0600, fd >= 0) < 0) {
        berth_error_set(err, "%s: cannot write: %s", draft.temporary, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    close(journal->fd);
    journal->fd = fd;
    journal->size = size;
    return 0;
}

bool journal_file_is_there(const struct journal_file *journal)
{
    struct stat ours, there;

    return fstat(journal->fd, &ours) == 0 && lstat(journal->path, &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

size_t journal_file_size(const struct journal_file *journal)
{
    return journal->size;
}
