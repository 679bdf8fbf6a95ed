/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_raw - see job_raw.h */
#include "packer/cli/find/job_raw.h"

#include <string.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/find/slurm_job.h"

/* Returns a whole number of an answer; 0 where there is none. */
static uint32_t number_of(struct json_object *object, const char *key)
{
    double number = ctl_number(object, key);

    return number > 0 && number < UINT32_MAX ? (uint32_t)number : 0;
}

/* Finds the task among the steps that this node's berthd remembers. Returns false where it is not
 * there. */
static bool find_on_node(const char *socket, struct job_id *id)
{
    const struct wire_request request = {.op = WIRE_OP_EXPLAIN, .id = {id->job, UINT32_MAX}};
    struct job_id all = {id->job, id->task, id->part, UINT32_MAX, false};
    struct berth_error err;
    struct json_object *answer = ctl_ask(socket, &request, &err);
    struct json_object *steps = ctl_object(answer, "steps");
    bool found = false;

    for (size_t i = 0; !found && i < ctl_length(steps); i++) {
        struct json_object *asked = ctl_object(json_object_array_get_idx(steps, i), "request");
        const struct wire_step_id own = {number_of(asked, "job"), 0};

        found =
            job_id_means(&all, own, number_of(asked, "array_job"), number_of(asked, "array_task"));
        if (found)
            *id = (struct job_id){own.job, JOB_ID_NONE, JOB_ID_NONE, id->step, true};
    }
    json_object_put(answer);
    return found;
}

/* Takes the number of the one whose name it is: squeue (22.05) names all parts of a job that
 * is asked for one. Returns false where it is not among them. */
static bool find_named(const struct slurm_job *jobs, size_t n, struct job_id *id)
{
    char name[JOB_ID_NAME_MAX];

    job_id_name(id, name);
    for (size_t i = 0; i < n; i++)
        if (strcmp(jobs[i].id, name) == 0) {
            *id = (struct job_id){jobs[i].job, JOB_ID_NONE, JOB_ID_NONE, id->step, true};
            return true;
        }
    return false;
}

int job_raw_ask_slurm(struct job_id *id, struct berth_error *err)
{
    struct slurm_job jobs[SLURM_JOBS_MAX];

    if (job_id_is_plain(id) || find_named(jobs, slurm_jobs_named(id, jobs), id) ||
        find_named(jobs, slurm_jobs_accounted(id, jobs), id))
        return 0;
    return berth_error_set(err, "neither squeue nor sacct tells here which job that is");
}

int job_raw_find(const char *socket, struct job_id *id, struct berth_error *err)
{
    if (job_id_is_plain(id) || (id->task != JOB_ID_NONE && find_on_node(socket, id)))
        return 0;
    return job_raw_ask_slurm(id, err);
}
