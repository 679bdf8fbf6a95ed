/* SPDX-License-Identifier: GPL-2.0-or-later */
/* home - see home.h */
#include "packer/slurm/steps/home.h"

/* Takes Slurm's own core lists, for the way of enforcement that looks at no cgroup (dryrun); the
 * others read the CPUs themselves. */
static void preset_homes(struct step *step)
{
    struct enforce_step *body = &step->body;

    if (cpus_parse(&body->job_home, step->request.job_cores) < 0 ||
        cpus_parse(&body->step_home, step->request.step_cores) < 0)
        return;
    for (size_t i = 0; i < body->ntasks; i++)
        body->task[i].home = body->step_home;
}

/* Takes the job's home from an earlier step of the job that berth places: the job's list may have
 * been widened for that one since. */
static void keep_job_home(const struct packer *packer, struct step *fresh)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (step == fresh || step->request.id.job != fresh->request.id.job || !step_movable(step))
            continue;
        cpus_and(&fresh->body.job_home, &step->body.job_home);
        cpus_or(&fresh->body.job_home, &fresh->body.step_home);
        return;
    }
}

/* A mask of all CPUs that the step has binds nobody. */
static void loosen(struct step *step)
{
    struct wire_register *request = &step->request;
    struct cpus cpus;

    if (request->bound_cpus && request->bound_cpus[0] &&
        cpus_parse(&cpus, request->bound_cpus) == 0 && cpus_subset(&step->body.step_home, &cpus))
        request->bound_by_hand = false;
}

int home_find(const struct packer *packer, struct step *step, struct berth_error *err)
{
    enforce_forget(packer->world.enforce, step->request.id); /* of a step of that name before it */
    preset_homes(step);
    if (packer->world.enforce->way->locate(packer->world.enforce, step->request.node, &step->body,
                                           err) < 0)
        return -1;
    keep_job_home(packer, step);
    if (enforce_register(packer->world.enforce, &step->body, err) < 0)
        return -1;
    loosen(step);
    for (size_t i = 0; i < step->body.ntasks; i++)
        step->body.task[i].cpus = step->body.task[i].home;
    return 0;
}
