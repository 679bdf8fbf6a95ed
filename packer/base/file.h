/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file - reads whole files, and replaces them so that nobody ever finds a half.
 *
 * A file is replaced by a draft: a new file beside it, which takes its name when it is whole. Who
 * reads meanwhile has the old file, and so has everybody when the disk is full or the writer dies.
 */
#ifndef BERTH_BASE_FILE_H
#define BERTH_BASE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "packer/base/error.h"

/* Returns the text of a regular file of at most `max` bytes, with a NUL behind it, which the caller
 * frees; its length without the NUL in *length (NULL is fine). NULL with err (without the path) and
 * errno when it fails. */
char *file_read(const char *path, size_t max, size_t *length, struct berth_error *err);

/* Returns all that an open file, pipe or terminal gives from where it stands to its end; like
 * file_read, but NULL with errno only (EFBIG: there is more than `max` bytes). */
char *file_read_fd(int fd, size_t max, size_t *length);

/* Writes the text, however many write(2) it takes. Returns how many bytes were written: less than
 * `length` when it fails, with errno. */
size_t file_write_fd(int fd, const char *text, size_t length);

/* Makes a folder with this mode, whatever the umask, and with 0755 those that it is in; one that is
 * there stays as it is. 0, or -1 with errno. */
int file_folder(const char *path, mode_t mode);

/* Removes the files of a folder that are left over, by their names, but those that begin with a
 * point. A folder that cannot be read has none. */
void file_sweep(const char *folder, bool (*left_over)(const char *name, const void *arg),
                const void *arg);

/* Closes a descriptor, and keeps errno; -1 is fine. */
void file_close(int fd);

enum {
    FILE_SYNC = 1,  /* on the disk before it takes the name: outlives the kernel, too */
    FILE_FIRST = 2, /* nothing must be there: fails with EEXIST */
    FILE_ANY = 4    /* others may replace the same file at this time; without it the draft is
                       PATH.new, and what a writer that was killed left of it is used again */
};

struct file_draft {
    int fd; /* to be written to; appends, and may be read */
    unsigned flags;
    char path[PATH_MAX], temporary[PATH_MAX + 8];
};

/* Opens the draft of a file, which nobody but its owner may read yet. 0, or -1 with errno. */
int file_draft_open(struct file_draft *draft, const char *path, unsigned flags);

/* Ends the draft. When it is whole it gets its mode and its name; else, and where that fails, it is
 * removed and the old file stays. 0, or -1 with errno (EINVAL: there is something that is no
 * regular file; where it is not whole errno stays as it was). */
int file_draft_close(struct file_draft *draft, mode_t mode, bool whole);

/* Replaces a file by the text: all of the above. 0, or -1 with errno and the old file as it was. */
int file_replace(const char *path, mode_t mode, unsigned flags, const char *text, size_t length);

#endif
