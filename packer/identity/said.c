/* SPDX-License-Identifier: GPL-2.0-or-later */
/* said - see said.h */
#include "packer/identity/said.h"

#include <string.h>

#include "packer/base/json.h"
#include "packer/base/text.h"

static int read_job(struct json_object *object, struct said_job *job, struct berth_error *err)
{
    memset(job, 0, sizeof(*job));
    if (!json_object_is_type(object, json_type_object))
        return berth_error_set(err, "no object");
    if (json_read(object, wire_identity_fields, &job->is, err) < 0 ||
        json_get_text(object, "why", JSON_OPTIONAL, job->why, sizeof(job->why), err) < 0)
        return -1;
    wire_identity_clean(&job->is);
    text_clean(job->why);
    return 0;
}

static int read_jobs(struct json_object *reply, struct said_job *job, struct berth_error *err)
{
    struct json_object *list;
    size_t n;

    if (!json_object_is_type(reply, json_type_object))
        return berth_error_set(err, "no object");
    if (json_get_array(reply, "jobs", JSON_REQUIRED, &list, err) < 0)
        return -1;
    n = json_object_array_length(list);
    if (n > SAID_JOBS_MAX)
        return berth_error_set(err, "jobs: at most %d expected, not %zu", SAID_JOBS_MAX, n);
    for (size_t i = 0; i < n; i++)
        if (read_job(json_object_array_get_idx(list, i), &job[i], err) < 0)
            return -1;
    return (int)n;
}

int said_read(const char *line, struct said_job *job, struct berth_error *err)
{
    struct json_object *reply = json_parse(line, strlen(line), err);
    int n = reply ? read_jobs(reply, job, err) : -1;

    json_object_put(reply);
    return n;
}
