/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_jobs - see slurm_jobs.h
 *
 * Slurm's tree is slurm_NODE/uid_U/job_J/step_S (v1; slurmstepd is in the step's folder too, and
 * from 24.11 on there is a task_N below it) or .../JOB/step_S/{slurm,user/task_N} (v2, where
 * slurm_folders.h says what JOB is). A folder can vanish while it is read: it has no process then.
 */
#include "packer/slurm/slurm_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a list of CPUs from a file of the folder. 0, or -1. */
static int read_cpus(struct slurm_cgroups slurm, const char *dir, const char *file,
                     struct cpus *cpus)
{
    char path[CGROUP_DIR_MAX + 32];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    return rootfs_read_cpus(slurm.root, path, cpus, NULL);
}

/* ---- jobs ---- */

struct visiting {
    slurm_visit_job *visit;
    void *arg;
    bool unified;
};

static int visit_job(struct slurm_cgroups slurm, const char *path, void *arg)
{
    const struct visiting *visiting = arg;
    struct slurm_job job = {.job = slurm_folders_job(slurm, path), .unified = visiting->unified};
    struct cpus cpus;

    if (job.job == 0)
        return 0;
    snprintf(job.dir, sizeof(job.dir), "%s", path);
    if (read_cpus(slurm, path, "cpuset.cpus", &cpus) == 0)
        visiting->visit(&job, &cpus, visiting->arg);
    return 0;
}

static int visit_user(struct slurm_cgroups slurm, const char *path, void *arg)
{
    return slurm_each_dir(slurm, path, "job_", visit_job, arg);
}

void slurm_jobs_cgroup1(struct slurm_cgroups slurm, const char *node, slurm_visit_job *visit,
                        void *arg)
{
    struct visiting visiting = {visit, arg, false};
    char path[CGROUP_DIR_MAX];

    snprintf(path, sizeof(path), "%s/cpuset/slurm_%s", slurm.top, node);
    slurm_each_dir(slurm, path, "uid_", visit_user, &visiting);
    snprintf(path, sizeof(path), "%s/cpuset/slurm", slurm.top);
    slurm_each_dir(slurm, path, "uid_", visit_user, &visiting);
}

void slurm_jobs_cgroup2(struct slurm_cgroups slurm, const char *node, slurm_visit_job *visit,
                        void *arg)
{
    struct visiting visiting = {visit, arg, true};

    slurm_folders_each(slurm, node, NULL, visit_job, &visiting);
}

bool slurm_job_of(struct slurm_cgroups slurm, struct wire_step_id id, const char *leaf,
                  struct slurm_job *job)
{
    *job = (struct slurm_job){.job = id.job, .unified = slurm.unified};
    if (!leaf[0])
        return false;
    snprintf(job->dir, sizeof(job->dir), "%s%s/%s", slurm.top, job->unified ? "" : "/cpuset", leaf);
    *strrchr(job->dir, '/') = '\0';
    if (job->unified)
        slurm_folders_learn(slurm, job->dir, job->job);
    return true;
}

/* ---- processes ---- */

/* Returns 1 where a process is in the folder or anywhere below it. */
static int find_process(struct slurm_cgroups slurm, const char *dir, void *arg)
{
    char *text = slurm_read_procs(slurm, dir);
    bool any = text && text[0];

    free(text);
    return any || slurm_each_dir(slurm, dir, "", find_process, arg);
}

bool slurm_job_lives(struct slurm_cgroups slurm, const struct slurm_job *job)
{
    char path[CGROUP_DIR_MAX + 32], *events;
    bool lives;

    if (!job->unified)
        return find_process(slurm, job->dir, NULL);
    snprintf(path, sizeof(path), "%s/cgroup.events", job->dir);
    events = rootfs_read(slurm.root, path);
    lives = events ? strstr(events, "populated 0") == NULL : errno != ENOENT && errno != ENODEV;
    free(events);
    return lives;
}

/* ---- steps ---- */

struct steps {
    const struct slurm_job *job;
    slurm_visit_step *visit;
    void *arg;
};

/* .../step_NAME */
static int visit_step(struct slurm_cgroups slurm, const char *path, void *arg)
{
    const struct steps *steps = arg;
    const char *step = strrchr(path, '/') + strlen("/step_");
    char name[WIRE_STEP_NAME_MAX];
    struct wire_step_id id;

    (void)slurm;
    if ((size_t)snprintf(name, sizeof(name), "%u.%s", steps->job->job, step) < sizeof(name) &&
        wire_step_parse(name, &id) == 0 && id.step != WIRE_STEP_EXTERN)
        steps->visit(steps->job, id, path, steps->arg);
    return 0;
}

void slurm_job_steps(struct slurm_cgroups slurm, const struct slurm_job *job,
                     slurm_visit_step *visit, void *arg)
{
    struct steps steps = {job, visit, arg};

    slurm_each_dir(slurm, job->dir, "step_", visit_step, &steps);
}

/* Is the process called slurmstepd? *roots: it is root's. One that has vanished is. */
static bool is_called_stepd(const struct rootfs *root, long pid, bool *roots)
{
    char path[64], *text;
    const char *uid;
    bool called;

    snprintf(path, sizeof(path), "/proc/%ld/status", pid);
    text = rootfs_read(root, path);
    uid = text ? strstr(text, "\nUid:\t") : NULL;
    *roots = !text || (uid && strncmp(uid, "\nUid:\t0\t", strlen("\nUid:\t0\t")) == 0);
    called = !text || strncmp(text, "Name:\tslurmstepd\n", strlen("Name:\tslurmstepd\n")) == 0;
    free(text);
    return called;
}

struct looking {
    bool stepd; /* slurmstepd itself can be among them */
    enum slurm_life life;
};

/* Raises what is known of a step by the processes of one folder; 1: it cannot be more. */
static int look_at(struct slurm_cgroups slurm, const char *dir, void *arg)
{
    struct looking *looking = arg;
    char *text = slurm_read_procs(slurm, dir), *at = text, *end;
    bool roots;

    for (long pid; at && looking->life != SLURM_RUNS && (pid = strtol(at, &end, 10)) > 0; at = end)
        if (!is_called_stepd(slurm.root, pid, &roots))
            looking->life = SLURM_RUNS;
        else if (!looking->stepd || !roots)
            looking->life = SLURM_STARTS;
    free(text);
    return looking->life == SLURM_RUNS;
}

enum slurm_life slurm_step_life(struct slurm_cgroups slurm, const struct slurm_job *job,
                                const char *dir, struct cpus *cpus)
{
    struct looking looking = {.stepd = !job->unified};
    char tasks[CGROUP_DIR_MAX + 8];

    snprintf(tasks, sizeof(tasks), "%s%s", dir, job->unified ? "/user" : "");
    cpus_zero(cpus);
    /* an empty list follows its parent */
    if (read_cpus(slurm, tasks, "cpuset.cpus", cpus) == 0 && cpus_empty(cpus) && job->unified)
        read_cpus(slurm, tasks, "cpuset.cpus.effective", cpus);
    if (!look_at(slurm, tasks, &looking))
        slurm_each_dir(slurm, tasks, "task_", look_at, &looking);
    return looking.life;
}
