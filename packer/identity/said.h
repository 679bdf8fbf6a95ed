/* SPDX-License-Identifier: GPL-2.0-or-later */
/* said - the line that berth-job prints: who the jobs are that it was asked for.
 *
 *     {"jobs":[{"source":"slurmctld","job":12,"uid":1001,...},{"source":"none","job":13,"why":".."}]}
 */
#ifndef BERTH_IDENTITY_SAID_H
#define BERTH_IDENTITY_SAID_H

#include <stddef.h>

#include "packer/base/error.h"
#include "packer/wire/wire_identity.h"

#define SAID_JOBS_MAX 64       /* in one call of berth-job */
#define SAID_CLOCKS_DIFFER_S 2 /* between the node and slurmctld */

/* What it says of one job; why: "" where it is known. */
struct said_job {
    struct wire_identity is;
    char why[128];
};

/* Reads a line into job[SAID_JOBS_MAX]; names that are none become "". Returns how many jobs it
 * tells of, or -1 and err. */
int said_read(const char *line, struct said_job *job, struct berth_error *err);

#endif
