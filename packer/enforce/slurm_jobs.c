/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enforce_jobs - which CPUs Slurm gave to each job of the node, opted in or not: from the cpusets
 * of its jobs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/enforce/enforce.h"

struct visiting {
    enforce_visit_job *visit;
    void *arg;
};

/* .../job_NUMBER */
static int visit_job(struct enforce *enforce, const char *path, void *arg)
{
    const struct visiting *visiting = arg;
    const char *name = strrchr(path, '/') + strlen("/job_");
    unsigned long job;
    struct cpus cpus;
    char *end;

    errno = 0;
    job = strtoul(name, &end, 10);
    if (errno || end == name || *end || job > UINT32_MAX)
        return 0;
    if (enforce_read_cpus(enforce->root, path, "cpuset.cpus", &cpus, NULL) == 0)
        visiting->visit((uint32_t)job, &cpus, visiting->arg);
    return 0;
}

static int visit_user(struct enforce *enforce, const char *path, void *arg)
{
    return enforce_each_dir(enforce, path, "job_", visit_job, arg);
}

void enforce_jobs_cgroup1(struct enforce *enforce, const char *node, enforce_visit_job *visit,
                          void *arg)
{
    struct visiting visiting = {visit, arg};
    char path[CGROUP_DIR_MAX];

    snprintf(path, sizeof(path), "%s/cpuset/slurm_%s", enforce->cgroup_root, node);
    enforce_each_dir(enforce, path, "uid_", visit_user, &visiting);
    snprintf(path, sizeof(path), "%s/cpuset/slurm", enforce->cgroup_root);
    enforce_each_dir(enforce, path, "uid_", visit_user, &visiting);
}

void enforce_jobs_cgroup2(struct enforce *enforce, const char *node, enforce_visit_job *visit,
                          void *arg)
{
    struct visiting visiting = {visit, arg};
    char path[CGROUP_DIR_MAX];

    snprintf(path, sizeof(path), "%s/system.slice/%s_slurmstepd.scope", enforce->cgroup_root, node);
    enforce_each_dir(enforce, path, "job_", visit_job, &visiting);
    snprintf(path, sizeof(path), "%s/system.slice/slurmstepd.scope", enforce->cgroup_root);
    enforce_each_dir(enforce, path, "job_", visit_job, &visiting);
}
