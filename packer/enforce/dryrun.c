/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enforce_dryrun - a way that reads and never writes: for nodes that only observe, for benchmarks
 * and tests. */
#include "packer/enforce/enforce.h"

#include <errno.h>
#include <string.h>

static int dryrun_probe(const struct rootfs *root, const char *cgroup_root, struct berth_error *err)
{
    (void)root;
    (void)cgroup_root;
    (void)err;
    return 1;
}

/* The homes are the tasks' affinities; what the caller has set stays where a process cannot be read
 * (a benchmark's steps have none). */
static int dryrun_locate(struct enforce *enforce, const char *node, struct enforce_step *step,
                         struct berth_error *err)
{
    (void)node;
    enforce_know_tasks(enforce, step);
    for (size_t i = 0; i < step->ntasks; i++)
        if (enforce_get_affinity(step->task[i].pid, &step->task[i].home) < 0 &&
            cpus_empty(&step->task[i].home))
            return berth_error_set(err, "task %d: cannot read its affinity: %s",
                                   (int)step->task[i].pid, strerror(errno));
    enforce_union(step, ENFORCE_HOME, &step->step_home);
    cpus_or(&step->job_home, &step->step_home);
    return 0;
}

static int dryrun_change(struct enforce *enforce, const struct enforce_step *step,
                         struct berth_error *err)
{
    (void)enforce;
    (void)step;
    (void)err;
    return 0;
}

const struct enforce_way enforce_dryrun = {.name = "dryrun",
                                           .probe = dryrun_probe,
                                           .locate = dryrun_locate,
                                           .apply = dryrun_change,
                                           .restore = dryrun_change,
                                           .pids = enforce_pids_descend};
