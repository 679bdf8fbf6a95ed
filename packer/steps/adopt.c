/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adopt - see adopt.h */
#include "packer/steps/adopt.h"

#include <stdlib.h>

#include "packer/base/log.h"
#include "packer/steps/stand.h"
#include "packer/system/process_look.h"

/* Is it the task that was registered, and in the step's cgroup? */
static bool is_task(const struct packer *packer, const struct step *step,
                    const struct enforce_task *task, const struct enforce_pids *list)
{
    uint64_t started;

    if (!enforce_pids_have(list, task->pid))
        return false;
    started = process_started(&packer->world.root, task->pid); /* 0: it has ended just now */
    return !started || (task->started ? process_same(started, task->started)
                                      : process_began_by(started, step->started_mono_s));
}

enum adopt adopt_of(const struct packer *packer, const struct step *step)
{
    struct enforce_pids list = {0};
    enum adopt adopt;

    if (packer->world.enforce->way->pids(packer->world.enforce, &step->body, &list) < 0) {
        free(list.pid);
        return ADOPT_SAME; /* nobody can tell: it is looked at by the next sweep */
    }
    adopt = list.n ? ADOPT_OTHER : ADOPT_NOBODY;
    for (size_t i = 0; adopt == ADOPT_OTHER && i < step->body.ntasks; i++)
        if (is_task(packer, step, &step->body.task[i], &list))
            adopt = ADOPT_SAME;
    for (size_t i = 0; adopt == ADOPT_OTHER && i < step->nregistered; i++)
        if (is_task(packer, step, &step->registered[i], &list)) /* whose ranks are over */
            adopt = ADOPT_SAME;
    free(list.pid);
    return adopt;
}

void adopt_places(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        step->body.wide = step_movable(step);
        for (size_t i = 0; step_movable(step) && i < step->body.ntasks; i++)
            stand_image(packer, packer->pool, &step->body.task[i].use, &step->body.task[i].cpus);
    }
}

void adopt_hand(const struct packer *packer)
{
    struct berth_error err;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (enforce_register(packer->world.enforce, &step->body, &err) < 0)
        log_warn("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
}
