/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file - see file.h */
#include "packer/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_ROOM 4096

/* ---- reading ---- */

/* Reads into text[length..room-1]; 1 when there may be more, 0 at the end, -1 with errno. */
static int read_some(int fd, char *text, size_t room, size_t *length)
{
    ssize_t got = read(fd, text + *length, room - *length);

    if (got < 0)
        return errno == EINTR ? 1 : -1;
    *length += (size_t)got;
    return got > 0;
}

char *file_read_fd(int fd, size_t max, size_t *length)
{
    size_t room = FIRST_ROOM, done = 0;
    char *text = malloc(room), *grown = text;
    int rc = 1;

    while (grown && rc > 0 && done <= max) {
        if (done + 1 == room && (grown = realloc(text, 2 * room))) {
            text = grown;
            room *= 2;
        }
        if (grown)
            rc = read_some(fd, text, room - 1, &done);
    }
    if (grown && rc == 0 && done <= max) {
        text[done] = '\0';
        if (length)
            *length = done;
        return text;
    }
    if (grown && rc >= 0)
        errno = EFBIG;
    free(text);
    return NULL;
}

char *file_read(const char *path, size_t max, size_t *length, struct berth_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    char *text = NULL;

    if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
        errno = EINVAL;
    else if (fd >= 0)
        text = file_read_fd(fd, max, length);
    file_close(fd);
    if (text)
        return text;
    if (errno == EFBIG)
        berth_error_set(err, "more than %zu bytes", max);
    else
        berth_error_set(err, "%s", errno == EINVAL ? "not a regular file" : strerror(errno));
    return NULL;
}

/* ---- writing ---- */

size_t file_write_fd(int fd, const char *text, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t wrote = write(fd, text + done, length - done);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            break;
        done += (size_t)wrote;
    }
    return done;
}

/* Makes the folder that one is in. */
static int make_above(const char *path)
{
    char above[PATH_MAX];

    snprintf(above, sizeof(above), "%s", path);
    return file_folder(dirname(above), 0755);
}

int file_folder(const char *path, mode_t mode)
{
    int rc = mkdir(path, mode);

    if (rc < 0 && errno == ENOENT && make_above(path) == 0)
        rc = mkdir(path, mode);
    if (rc < 0)
        return errno == EEXIST ? 0 : -1;
    return chmod(path, mode);
}

void file_sweep(const char *folder, bool (*left_over)(const char *name, const void *arg),
                const void *arg)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' && left_over(entry->d_name, arg))
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
}

void file_close(int fd)
{
    int saved = errno;

    if (fd >= 0)
        close(fd);
    errno = saved;
}

/* Opens a file that was not there; what a writer that was killed has left there goes. */
static int open_new(const char *path)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(path, flags, 0600);

    return fd < 0 && errno == EEXIST && unlink(path) == 0 ? open(path, flags, 0600) : fd;
}

int file_draft_open(struct file_draft *draft, const char *path, unsigned flags)
{
    bool any = flags & FILE_ANY;

    draft->flags = flags;
    if (strlen(path) >= sizeof(draft->path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(draft->path, path);
    snprintf(draft->temporary, sizeof(draft->temporary), "%s%s", path, any ? ".XXXXXX" : ".new");
    draft->fd = any ? mkostemp(draft->temporary, O_APPEND | O_CLOEXEC) : open_new(draft->temporary);
    return draft->fd < 0 ? -1 : 0;
}

/* Gives the draft its name. 0, or -1 with errno. */
static int put_in_place(const struct file_draft *draft)
{
    bool first = draft->flags & FILE_FIRST;
    struct stat st;

    if (lstat(draft->path, &st) == 0 && (first || !(S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)))) {
        errno = first ? EEXIST : EINVAL;
        return -1;
    }
    if (!first)
        return rename(draft->temporary, draft->path);
    if (renameat2(AT_FDCWD, draft->temporary, AT_FDCWD, draft->path, RENAME_NOREPLACE) == 0)
        return 0;
    return errno == EINVAL || errno == ENOSYS ? rename(draft->temporary, draft->path) : -1;
}

int file_draft_close(struct file_draft *draft, mode_t mode, bool whole)
{
    int saved;

    whole = whole && fchmod(draft->fd, mode) == 0 &&
            (!(draft->flags & FILE_SYNC) || fsync(draft->fd) == 0);
    saved = errno;
    if (close(draft->fd) < 0 && whole) {
        saved = errno;
        whole = false;
    }
    errno = saved;
    if (whole && put_in_place(draft) == 0)
        return 0;
    saved = errno;
    unlink(draft->temporary);
    errno = saved;
    return -1;
}

int file_replace(const char *path, mode_t mode, unsigned flags, const char *text, size_t length)
{
    struct file_draft draft;

    if (file_draft_open(&draft, path, flags) < 0)
        return -1;
    return file_draft_close(&draft, mode, file_write_fd(draft.fd, text, length) == length);
}
