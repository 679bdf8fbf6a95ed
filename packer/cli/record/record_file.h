/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_file - the file that berthctl record writes: whole lines only, whatever happens. */
#ifndef BERTH_CLI_RECORD_RECORD_FILE_H
#define BERTH_CLI_RECORD_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "packer/base/error.h"
#include "packer/counters/recorded.h"

/* Says what to do with a file that is there: refuse it, replace it, go on with it. */
enum record_mode { RECORD_NEW, RECORD_FORCE, RECORD_APPEND, RECORD_MODES };

struct record_file {
    int fd;
    bool ours;    /* opened here: not stdout */
    bool regular; /* and what does not fit can be cut off again */
    off_t whole;  /* its length, up to the end of its last line */
};

/* Opens the file; "-" is stdout. With RECORD_APPEND *before is what is in the file, which the
 * caller frees (NULL where the file is empty or was not there), and the file's format must be the
 * one asked for. 0, or -1 and err, "FILE: why" or "FILE:LINE: why". */
int record_file_open(struct record_file *file, const char *path, enum record_mode mode, bool csv,
                     struct recorded **before, struct berth_error *err);

/* Writes lines, each with its newline. 0, or -1 and err: then the file ends with the last line that
 * could be written whole. */
int record_file_put(struct record_file *file, const char *lines, size_t length,
                    struct berth_error *err);

/* Closes the file. 0, or -1 and err when not all has come to the disk. */
int record_file_close(struct record_file *file, struct berth_error *err);

#endif
