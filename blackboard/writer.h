/* SPDX-License-Identifier: GPL-2.0-or-later */
/* writer - makes a blackboard and writes its sections, for the one process whose it is; not
 * installed. Nothing here is for several threads at once. */
#ifndef BERTH_BLACKBOARD_WRITER_H
#define BERTH_BLACKBOARD_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "blackboard/berth_blackboard.h"

struct blackboard_writer;

/* Makes the file anew, readable by all, in a folder that only its owner can write to: under another
 * name, which is then renamed, so that a program sees all of it or none, and one that has an old
 * file mapped keeps that. name: [n], cut to what a section's name holds; n is 1 to 4096. 0 and
 * *writer; or -1 with errno, and the old file is as it was. */
int blackboard_create(struct blackboard_writer **writer, const char *path, unsigned n,
                      const char *const *name);

/* Writes section `number`: n values, at most BERTH_BLACKBOARD_VALUES, as of that time
 * (CLOCK_MONOTONIC). */
void blackboard_write(struct blackboard_writer *writer, unsigned number, uint64_t at_ns, unsigned n,
                      const double *value);

/* Tells readers that nothing more is written, removes the file, and frees the writer; NULL is fine.
 */
void blackboard_end(struct blackboard_writer *writer);

#endif
