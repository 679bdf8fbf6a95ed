/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_id - reads how people and Slurm name jobs and steps: 3, 3.0, 3.batch, 3_2 (a task of an
 * array), 3+1 (a part of a heterogeneous job), 3_2.0, 3+1.0. */
#ifndef BERTH_CLI_COMMON_JOB_ID_H
#define BERTH_CLI_COMMON_JOB_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/wire/wire.h"

#define JOB_ID_NONE UINT32_MAX
#define JOB_ID_FORMS "JOB[_TASK|+PART][.STEP], as 4711, 4711.0, 4711_2 or 4711+1"

struct job_id {
    uint32_t job;  /* the job's own number; of a task or a part, that before the '_' or the '+' */
    uint32_t task; /* of an array; JOB_ID_NONE: none is named */
    uint32_t part; /* of a heterogeneous job, from 1 on; JOB_ID_NONE: none (part 0 is `job`) */
    uint32_t step; /* UINT32_MAX: all of them */
    bool exact; /* the job of this number only, which may be a task of the array of this number */
};

/* Reads such a name. 0, or -1 with errno EINVAL. */
int job_id_parse(const char *text, struct job_id *id);

/* Says whether the name alone tells Slurm's own number of the job: no task and no part is named. */
bool job_id_is_plain(const struct job_id *id);

/* Says whether a step is meant, of a job that is a task of an array (array_job 0: it is of none).
 * As with sacct an array's number means all of its tasks, unless it is exact. A part is never
 * meant: what number it has is to be found out first. */
bool job_id_means(const struct job_id *id, struct wire_step_id step, uint32_t array_job,
                  uint32_t array_task);

/* Returns the name as Slurm's commands take it, without the step: "3", "3_2", "3+1". */
#define JOB_ID_NAME_MAX 24
const char *job_id_name(const struct job_id *id, char name[JOB_ID_NAME_MAX]);

#endif
