/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_lines - the lines of a file of samples, from what berthd answers round after round.
 *
 * A file tells steps apart by their names, and their counts never fall; berthd's answers tell them
 * apart by their ids, and its counts begin anew when it is restarted. This is the way from the one
 * to the other. */
#ifndef BERTH_CLI_RECORD_RECORD_LINES_H
#define BERTH_CLI_RECORD_RECORD_LINES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "packer/base/error.h"
#include "packer/counters/recorded.h"

struct record_lines;

/* Makes a recording in JSON lines or CSV; `before` is what is in the file already (borrowed; NULL:
 * nothing). Returns NULL when out of memory. */
struct record_lines *record_lines_new(bool csv, const struct recorded *before);
void record_lines_free(struct record_lines *recording); /* NULL is fine */

/* Notes that berthd was restarted: what it counts from now on goes on top of what it had counted.
 */
void record_lines_restarted(struct record_lines *recording);

/* Takes the next sample of a step, as in berth-protocol(7). Returns 1 and *line, which the caller
 * frees; 0 where there is nothing to write: nothing is counted of that step, or nothing since the
 * last sample; or -1 and err, also where the file would be larger than replay_read takes.
 *
 * The first step of a name has it in the file, others "JOB.STEP", and "JOB.STEP#2" where that is
 * there, too. */
int record_lines_add(struct record_lines *recording, struct json_object *sample, char **line,
                     struct berth_error *err);

/* Samples and steps so far, without those of `before`. */
size_t record_lines_samples(const struct record_lines *recording);
size_t record_lines_steps(const struct record_lines *recording);

#endif
