/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ini_file - reads a file of NAME = VALUE lines by inih, with errors that say where: "FILE:LINE:
 * what is wrong".
 *
 * inih counts lines but tells its handler nothing about them, and cuts long ones; its reader here
 * does both. */
#ifndef BERTH_BASE_INI_FILE_H
#define BERTH_BASE_INI_FILE_H

#include <stdbool.h>

#include "packer/base/error.h"

struct ini_pair {
    const char *section, *name, *value; /* section "": none yet; name NULL: one begins */
    unsigned line;
    bool continued; /* the line began with a blank: more of the pair before */
};

/* Opens a regular file, without waiting where it is a FIFO; `trusted`: owned by root or the caller
 * and not writable by group or others. The descriptor, or -1 and err. */
int ini_file_open(const char *path, bool trusted, struct berth_error *err);

/* Reads all of it (fd is closed in any case); take returns 0, or -1 and err with what is wrong and
 * what would be right. `expected` is what a line is that inih cannot read: "KEY = VALUE". 0, or -1
 * and the first error. */
int ini_file_read(int fd, const char *path, const char *expected,
                  int (*take)(void *arg, const struct ini_pair *pair, struct berth_error *err),
                  void *arg, struct berth_error *err);

#endif
