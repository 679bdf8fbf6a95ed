/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_jobs - see slurm_jobs.h
 *
 * Slurm's tree is slurm_NODE/uid_U/job_J/step_S (v1; slurmstepd is in the step's folder too, and
 * from 24.11 on there is a task_N below it) or .../JOB/step_S/{slurm,user/task_N} (v2, where
 * slurm_folders.h says what JOB is). A folder can vanish while it is read: it has no process then.
 */
#include "packer/enforce/slurm_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/enforce/enforce.h"

/* ---- jobs ---- */

struct visiting {
    slurm_visit_job *visit;
    void *arg;
    bool unified;
};

static int visit_job(struct enforce *enforce, const char *path, void *arg)
{
    const struct visiting *visiting = arg;
    struct slurm_job job = {.job = slurm_folders_job(enforce, path), .unified = visiting->unified};
    struct cpus cpus;

    if (job.job == 0)
        return 0;
    snprintf(job.dir, sizeof(job.dir), "%s", path);
    if (enforce_read_cpus(enforce->root, path, "cpuset.cpus", &cpus, NULL) == 0)
        visiting->visit(&job, &cpus, visiting->arg);
    return 0;
}

static int visit_user(struct enforce *enforce, const char *path, void *arg)
{
    return enforce_each_dir(enforce, path, "job_", visit_job, arg);
}

void slurm_jobs_cgroup1(struct enforce *enforce, const char *node, slurm_visit_job *visit,
                        void *arg)
{
    struct visiting visiting = {visit, arg, false};
    char path[CGROUP_DIR_MAX];

    snprintf(path, sizeof(path), "%s/cpuset/slurm_%s", enforce->cgroup_root, node);
    enforce_each_dir(enforce, path, "uid_", visit_user, &visiting);
    snprintf(path, sizeof(path), "%s/cpuset/slurm", enforce->cgroup_root);
    enforce_each_dir(enforce, path, "uid_", visit_user, &visiting);
}

void slurm_jobs_cgroup2(struct enforce *enforce, const char *node, slurm_visit_job *visit,
                        void *arg)
{
    struct visiting visiting = {visit, arg, true};

    slurm_folders_each(enforce, node, NULL, visit_job, &visiting);
}

bool slurm_job_of(const struct enforce *enforce, const struct enforce_step *step,
                  struct slurm_job *job)
{
    *job = (struct slurm_job){.job = step->id.job,
                              .unified = enforce->way->jobs == slurm_jobs_cgroup2};
    if (!step->leaf[0])
        return false;
    snprintf(job->dir, sizeof(job->dir), "%s%s/%s", enforce->cgroup_root,
             job->unified ? "" : "/cpuset", step->leaf);
    *strrchr(job->dir, '/') = '\0';
    if (job->unified)
        slurm_folders_learn(enforce, job->dir, job->job);
    return true;
}

/* ---- processes ---- */

/* Returns what the folder's cgroup.procs holds, which the caller frees; NULL: it has gone. */
static char *read_procs(struct enforce *enforce, const char *dir)
{
    char path[CGROUP_DIR_MAX + 32];

    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    return rootfs_read(enforce->root, path);
}

/* Returns 1 where a process is in the folder or anywhere below it. */
static int find_process(struct enforce *enforce, const char *dir, void *arg)
{
    char *text = read_procs(enforce, dir);
    bool any = text && text[0];

    free(text);
    return any || enforce_each_dir(enforce, dir, "", find_process, arg);
}

bool slurm_job_lives(struct enforce *enforce, const struct slurm_job *job)
{
    char path[CGROUP_DIR_MAX + 32], *events;
    bool lives;

    if (!job->unified)
        return find_process(enforce, job->dir, NULL);
    snprintf(path, sizeof(path), "%s/cgroup.events", job->dir);
    events = rootfs_read(enforce->root, path);
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
static int visit_step(struct enforce *enforce, const char *path, void *arg)
{
    const struct steps *steps = arg;
    const char *step = strrchr(path, '/') + strlen("/step_");
    char name[WIRE_STEP_NAME_MAX];
    struct wire_step_id id;

    (void)enforce;
    if ((size_t)snprintf(name, sizeof(name), "%u.%s", steps->job->job, step) < sizeof(name) &&
        wire_step_parse(name, &id) == 0 && id.step != WIRE_STEP_EXTERN)
        steps->visit(steps->job, id, path, steps->arg);
    return 0;
}

void slurm_job_steps(struct enforce *enforce, const struct slurm_job *job, slurm_visit_step *visit,
                     void *arg)
{
    struct steps steps = {job, visit, arg};

    enforce_each_dir(enforce, job->dir, "step_", visit_step, &steps);
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
static int look_at(struct enforce *enforce, const char *dir, void *arg)
{
    struct looking *looking = arg;
    char *text = read_procs(enforce, dir), *at = text, *end;

    bool roots;

    for (long pid; at && looking->life != SLURM_RUNS && (pid = strtol(at, &end, 10)) > 0; at = end)
        if (!is_called_stepd(enforce->root, pid, &roots))
            looking->life = SLURM_RUNS;
        else if (!looking->stepd || !roots)
            looking->life = SLURM_STARTS;
    free(text);
    return looking->life == SLURM_RUNS;
}

enum slurm_life slurm_step_life(struct enforce *enforce, const struct slurm_job *job,
                                const char *dir, struct cpus *cpus)
{
    struct looking looking = {.stepd = !job->unified};
    char tasks[CGROUP_DIR_MAX + 8];

    snprintf(tasks, sizeof(tasks), "%s%s", dir, job->unified ? "/user" : "");
    cpus_zero(cpus);
    if (enforce_read_cpus(enforce->root, tasks, "cpuset.cpus", cpus, NULL) == 0 &&
        cpus_empty(cpus) && job->unified) /* it follows its parent */
        enforce_read_cpus(enforce->root, tasks, "cpuset.cpus.effective", cpus, NULL);
    if (!look_at(enforce, tasks, &looking))
        enforce_each_dir(enforce, tasks, "task_", look_at, &looking);
    return looking.life;
}
