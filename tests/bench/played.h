/* SPDX-License-Identifier: GPL-2.0-or-later */
/* played - a berthd whose clock (day_clock.h) its bench advances: the two take turns. */
#ifndef BERTH_BENCH_PLAYED_H
#define BERTH_BENCH_PLAYED_H

#include <stdint.h>
#include <sys/types.h>

#include "packer/base/error.h"

struct played {
    pid_t pid;
    int clock;
    const char *folder;
};

extern const struct played played_none; /* one that was not started */

/* Where a file of this program's build folder is, if that is NULL; else of the given one. */
void played_path(const char *build, const char *name, char *path, size_t size);

/* Starts berthd of the build folder (NULL: this program's) by berth.conf of the folder, which stays
 * where it is; it reads the folder's "stat" in the place of /proc/stat and the files of its "nodes"
 * in the place of those of /sys/devices/system/node; its log is "log". Its time begins with the
 * first tick. Returns 0, or -1 and err. */
int played_start(struct played *played, const char *build, const char *folder,
                 struct berth_error *err);

/* It is now, nanoseconds from the beginning. Waits until berthd is idle, and fills in until when
 * that is. Returns 0, or -1 and err: it is gone, and why. */
int played_tick(const struct played *played, int64_t now, int64_t *idle_until,
                struct berth_error *err);

void played_stop(struct played *played);

#endif
