/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_sizes - how many cores jobs have on one node, by a log of a real cluster.
 *
 * Jobs come from the log in pieces, a piece a node (day_log.h): a node sees of a job what it has
 * there. Pieces are drawn by lot, each as likely as any other.
 *
 * No log tells ranks from threads. A piece of a job with several nodes is of ranks with a core
 * each; any other piece with more than one core is that or one task with all of its cores, at even
 * odds. How long jobs run is not taken from the log. */
#ifndef BERTH_BENCH_DAY_SIZES_H
#define BERTH_BENCH_DAY_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"

struct day_size {
    size_t cores;
    bool ranks; /* it can only be ranks */
};

struct day_sizes {
    size_t n;
    struct day_size *size; /* [n] */
};

/* Reads a log. 0, or -1 and err: it cannot be read, or has no job. Free with day_sizes_free. */
int day_sizes_read(struct day_sizes *sizes, const char *path, struct berth_error *err);
void day_sizes_free(struct day_sizes *sizes);

/* Draws a piece of at most so many cores: its tasks, and the cores of each. */
void day_sizes_draw(const struct day_sizes *sizes, uint64_t *seed, size_t most, size_t *tasks,
                    size_t *width);

#endif
