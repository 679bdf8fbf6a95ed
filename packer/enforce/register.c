/* SPDX-License-Identifier: GPL-2.0-or-later */
/* register - the hand is told which steps there are: what it does not know of it changes nothing.
 */
#include <stdlib.h>

#include "packer/enforce/enforce.h"
#include "packer/hand/ask.h"

/* Does this way change what is in Slurm's folder of the step? */
static bool has_folder(const struct enforce *enforce)
{
    return enforce->way->give_back != NULL;
}

static struct hand_task *tasks_of(const struct enforce_step *step)
{
    struct hand_task *task = calloc(step->ntasks + 1, sizeof(*task));

    for (size_t i = 0; task && i < step->ntasks; i++)
        task[i] = (struct hand_task){.pid = step->task[i].pid, .started = step->task[i].started};
    return task;
}

int enforce_register(struct enforce *enforce, const struct enforce_step *step,
                     struct berth_error *err)
{
    struct hand_told told = {.id = step->id,
                             .uid = step->uid,
                             .leaf = has_folder(enforce) ? step->leaf : "",
                             .stepd = step->stepd,
                             .stepd_started = step->stepd_started,
                             .job_home = &step->job_home};
    struct hand_task *task = NULL;
    int rc;

    if (!told.leaf[0] && step->ntasks) {
        task = tasks_of(step);
        if (!task)
            return berth_no_memory(err);
        told.ntasks = step->ntasks;
        told.task = task;
    }
    rc = hand_ask_step(enforce->hand, &told, err);
    free(task);
    return rc;
}
