/* SPDX-License-Identifier: GPL-2.0-or-later */
/* offline - see offline.h */
#include "packer/enact/offline.h"

#include <stdio.h>

#include "packer/enact/care.h"

bool offline_set(const struct packer *packer, const struct cpus *online)
{
    struct cpus offline = packer->world.topo->cpus;
    bool changed;

    cpus_andnot(&offline, online);
    changed = !cpus_equal(&offline, &packer->world.enforce->offline);
    packer->world.enforce->offline = offline;
    return changed;
}

bool offline_read(const struct packer *packer)
{
    struct cpus online;
    char off[CPUS_TEXT_MAX] = "";

    if (!packer->world.enforce->way->touches ||
        rootfs_read_cpus(&packer->world.root, "/sys/devices/system/cpu/online", &online, NULL) <
            0 ||
        !offline_set(packer, &online))
        return false;
    cpus_format(&packer->world.enforce->offline, off, sizeof(off));
    log_warn("CPUs that are off: %s", off[0] ? off : "none any more");
    return true;
}

void offline_leave(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        struct cpus off = step->body.step_home;
        char cpu[32];

        cpus_and(&off, &packer->world.enforce->offline);
        if (cpus_empty(&off))
            continue;
        step->binder.blind = true; /* the kernel has narrowed the masks of its threads */
        if (!step_movable(step))
            continue;
        snprintf(cpu, sizeof(cpu), "%zu", cpus_next(&off, 0));
        step_leave(packer, step, WIRE_LEFT_CPU_OFF, cpu);
    }
}

/* set without `off`, unless nothing would remain. */
static void without(struct cpus *set, const struct cpus *off)
{
    struct cpus rest = *set;

    cpus_andnot(&rest, off);
    if (!cpus_empty(&rest))
        *set = rest;
}

void offline_rest(const struct packer *packer, const struct enforce_step *step,
                  struct enforce_step *rest, struct enforce_task *task)
{
    struct cpus on = step->step_home;

    cpus_andnot(&on, &packer->world.enforce->offline);
    *rest = *step;
    rest->task = task;
    without(&rest->step_home, &packer->world.enforce->offline);
    for (size_t i = 0; i < step->ntasks; i++) {
        task[i] = step->task[i];
        cpus_andnot(&task[i].home, &packer->world.enforce->offline);
        if (cpus_empty(&task[i].home)) /* its neighbours' in the step, then */
            task[i].home = cpus_empty(&on) ? step->task[i].home : on;
    }
}
