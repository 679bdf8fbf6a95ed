/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_raw - see job_raw.h */
#include "packer/cli/job_raw.h"

#include <stdlib.h>

#include "packer/cli/common/ctl.h"
#include "packer/system/run_program.h"

#define SLURM_LIMIT_S 5 /* each of squeue and sacct: they wait for a slurmctld that is away */

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

/* Takes the number that a program of Slurm says. Returns false where it says none. */
static bool ask(const char *const *argv, struct job_id *id)
{
    struct job_id said;
    char line[64];

    if (run_program((char *const *)argv, RUN_FIRST_OUTPUT, SLURM_LIMIT_S, NULL, line,
                    sizeof(line)) != 0 ||
        job_id_parse(line, &said) < 0 || !job_id_is_plain(&said))
        return false;
    *id = (struct job_id){said.job, JOB_ID_NONE, JOB_ID_NONE, id->step, true};
    return true;
}

int job_raw_ask_slurm(struct job_id *id, struct berth_error *err)
{
    char name[JOB_ID_NAME_MAX];
    const char *squeue[] = {"squeue", "-h", "-t", "all", "-o", "%A", "-j", name, NULL};
    const char *sacct[] = {"sacct", "-n", "-X", "-P", "-o", "JobIDRaw", "-j", name, NULL};

    job_id_name(id, name);
    if (job_id_is_plain(id) || ask(squeue, id) || ask(sacct, id))
        return 0;
    return berth_error_set(err, "neither squeue nor sacct tells here which job that is");
}

int job_raw_find(const char *socket, struct job_id *id, struct berth_error *err)
{
    if (job_id_is_plain(id) || (id->task != JOB_ID_NONE && find_on_node(socket, id)))
        return 0;
    return job_raw_ask_slurm(id, err);
}
