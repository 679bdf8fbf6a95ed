/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_lines - the lines of a file of samples, from what berthd answers round after round.
 *
 * A file tells steps apart by their names, and their counts never fall; berthd's answers tell them
 * apart by their ids, and its counts begin anew when it is restarted. This is the way from the one
 * to the other. */
#ifndef BERTH_CLI_RECORD_LINES_H
#define BERTH_CLI_RECORD_LINES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "packer/base/error.h"
#include "packer/counters/recorded.h"

struct recording;

/* Makes a recording in JSON lines or CSV; `before` is what is in the file already (borrowed; NULL:
 * nothing). Returns NULL when out of memory. */
struct recording *recording_new(bool csv, const struct recorded *before);
void recording_free(struct recording *recording); /* NULL is fine */

/* Notes that berthd was restarted: what it counts from now on goes on top of what it had counted.
 */
void recording_restarted(struct recording *recording);

/* Takes the next sample of a step, as in berth-protocol(7). Returns 1 and *line, which the caller
 * frees; 0 where there is nothing to write: nothing is counted of that step, or nothing since the
 * last sample; or -1 and err, also where the file would be larger than replay_read takes.
 *
 * The first step of a name has it in the file, others "JOB.STEP", and "JOB.STEP#2" where that is
 * there, too. */
int recording_add(struct recording *recording, struct json_object *sample, char **line,
                  struct berth_error *err);

/* Samples and steps so far, without those of `before`. */
size_t recording_samples(const struct recording *recording);
size_t recording_steps(const struct recording *recording);

#endif
