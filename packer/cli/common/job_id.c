/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_id - see job_id.h */
#include "packer/cli/common/job_id.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the number behind '_' or '+'. Returns where it ends; NULL where there is none. */
static const char *read_number(const char *text, uint32_t *number)
{
    unsigned long long value;
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return NULL;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno || value >= JOB_ID_NONE)
        return NULL;
    *number = (uint32_t)value;
    return end;
}

int job_id_parse(const char *text, struct job_id *id)
{
    size_t job = strspn(text, "0123456789");
    struct job_id read = {.task = JOB_ID_NONE, .part = JOB_ID_NONE};
    const char *rest = text + job;
    struct wire_step_id step;
    char plain[64];

    if (*rest == '_' || *rest == '+')
        rest = read_number(rest + 1, *rest == '_' ? &read.task : &read.part);
    if (!rest || strlen(text) >= sizeof(plain)) {
        errno = EINVAL;
        return -1;
    }
    snprintf(plain, sizeof(plain), "%.*s%s", (int)job, text, rest);
    if (wire_step_parse(plain, &step) < 0)
        return -1;
    if (read.part == 0) /* the first part has the number of the whole */
        read.part = JOB_ID_NONE;
    read.job = step.job;
    read.step = step.step;
    *id = read;
    return 0;
}

bool job_id_is_plain(const struct job_id *id)
{
    return id->task == JOB_ID_NONE && id->part == JOB_ID_NONE;
}

bool job_id_means(const struct job_id *id, struct wire_step_id step, uint32_t array_job,
                  uint32_t array_task)
{
    bool own = job_id_is_plain(id) && id->job == step.job;
    bool task = !id->exact && id->part == JOB_ID_NONE && array_job && id->job == array_job &&
                (id->task == JOB_ID_NONE || id->task == array_task);

    return (own || task) && (id->step == UINT32_MAX || id->step == step.step);
}

const char *job_id_name(const struct job_id *id, char name[JOB_ID_NAME_MAX])
{
    int used = snprintf(name, JOB_ID_NAME_MAX, "%u", id->job);

    if (!job_id_is_plain(id))
        snprintf(name + used, JOB_ID_NAME_MAX - (size_t)used, "%c%u",
                 id->task != JOB_ID_NONE ? '_' : '+',
                 id->task != JOB_ID_NONE ? id->task : id->part);
    return name;
}
