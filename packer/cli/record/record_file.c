/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_file - see record_file.h */
#include "packer/cli/record/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/counters/sample_line.h"
#include "enum_table.h"

/* ---- going on with a file ---- */

/* Does it begin as a file of this format does, and end with a newline? 0, or -1 and err. */
static int check_format(int fd, off_t size, bool csv, const char *path, struct berth_error *err)
{
    char *header = sample_line_csv_header(), *start = NULL, last = '\0';
    size_t length = header ? strlen(header) : 0;
    bool same;

    if (!header || !(start = calloc(1, length + 1))) {
        free(header);
        return berth_error_set(err, "%s: out of memory", path);
    }
    same = pread(fd, start, length, 0) > 0 &&
           (csv ? strcmp(start, header) == 0 : start[0] == '{') &&
           pread(fd, &last, 1, size - 1) == 1;
    free(header);
    free(start);
    if (!same)
        return berth_error_set(err, "%s: it is there, but not as %s of the columns of this version",
                               path, csv ? "CSV" : "JSON lines");
    return last == '\n' ? 0 : berth_error_set(err, "%s: its last line has no newline", path);
}

static int go_on(struct record_file *file, const char *path, bool csv, struct recorded **before,
                 struct berth_error *err)
{
    if (file->whole == 0)
        return 0;
    if (check_format(file->fd, file->whole, csv, path, err) < 0 ||
        recorded_read(before, path, err) < 0)
        return -1;
    if (lseek(file->fd, file->whole, SEEK_SET) < 0)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    return 0;
}

/* ---- the file ---- */

static int open_flags(enum record_mode mode)
{
    static const int TABLE(flags, RECORD_MODES) = {
        ROW(RECORD_NEW) = O_EXCL, ROW(RECORD_FORCE) = O_TRUNC, ROW(RECORD_APPEND) = 0};
    TABLE_COMPLETE(flags);

    return O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | flags[mode];
}

int record_file_open(struct record_file *file, const char *path, enum record_mode mode, bool csv,
                     struct recorded **before, struct berth_error *err)
{
    struct stat st;

    *before = NULL;
    *file = (struct record_file){.fd = STDOUT_FILENO, .ours = strcmp(path, "-") != 0};
    if (!file->ours)
        return 0;
    file->fd = open(path, open_flags(mode), 0666);
    if (file->fd < 0 && errno == EEXIST)
        return berth_error_set(
            err, "%s: it is there already: --force replaces it, --append goes on with it", path);
    if (file->fd < 0 || fstat(file->fd, &st) < 0)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    file->regular = S_ISREG(st.st_mode);
    file->whole = file->regular ? st.st_size : 0;
    if (mode != RECORD_APPEND || go_on(file, path, csv, before, err) == 0)
        return 0;
    close(file->fd);
    return -1;
}

/* Keeps the whole lines of what was written. */
static void cut(struct record_file *file, const char *lines, size_t written)
{
    const char *newline = memrchr(lines, '\n', written);

    file->whole += newline ? newline + 1 - lines : 0;
    if (file->regular && ftruncate(file->fd, file->whole) == 0)
        lseek(file->fd, file->whole, SEEK_SET);
}

int record_file_put(struct record_file *file, const char *lines, size_t length,
                    struct berth_error *err)
{
    size_t written = file_write_fd(file->fd, lines, length);

    if (written < length) {
        berth_error_set(err, "%s", strerror(errno));
        cut(file, lines, written);
        return -1;
    }
    file->whole += (off_t)length;
    return 0;
}

int record_file_close(struct record_file *file, struct berth_error *err)
{
    int synced = file->regular ? fsync(file->fd) : 0, saved = errno;

    if (file->ours && close(file->fd) < 0 && synced == 0) {
        saved = errno;
        synced = -1;
    }
    return synced == 0 ? 0 : berth_error_set(err, "%s", strerror(saved));
}
