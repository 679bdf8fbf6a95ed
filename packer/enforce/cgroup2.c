/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enforce_cgroup2 - placements on nodes where Slurm uses the unified hierarchy.
 *
 * Slurm's tree is SLICE/NODE_slurmstepd.scope/JOB/step_S/{slurm,user/task_N}, where JOB is job_J
 * or, from Slurm 26.05 on, a SLUID; slurmstepd is in `slurm`, the tasks in `user`. Where a step's
 * folder is, its tasks' own /proc/PID/cgroup says. There is only this one tree, and Slurm tracks
 * processes by it: nobody is moved. Instead job and step are widened by the CPUs that the step
 * shall stand on, and `user` and its task_N are pinned to them; of a step that is `wide` only
 * `user` is, to them and its home. A cgroup whose list lies outside its parent's silently gets the
 * parent's: so parents are widened first, and what counts is cpuset.cpus.effective. Slurm writes
 * the job's list again when a new step of the job starts: apply() of the others mends that.
 *
 * Without ConstrainCores Slurm leaves all lists empty, which means the parent's. Then only `user`
 * and what is below it get a list, and at last one as wide as the parent's. */
#include "packer/enforce/enforce.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/enforce/leaf_mark.h"
#include "packer/enforce/list.h"

#define CPUS "cpuset.cpus"
#define EFFECTIVE "cpuset.cpus.effective"

/* The step's folder, or one below it. */
static void step_dir(const struct enforce *enforce, const struct enforce_step *step,
                     const char *below, char *dir)
{
    snprintf(dir, CGROUP_DIR_MAX, "%s/%s%s", enforce->cgroup_root, step->leaf, below);
}

static void job_dir(const struct enforce *enforce, const struct enforce_step *step, char *dir)
{
    step_dir(enforce, step, "", dir);
    *strrchr(dir, '/') = '\0';
}

static int cgroup2_probe(const struct rootfs *root, const char *cgroup_root,
                         struct berth_error *err)
{
    char path[PATH_MAX], *controllers;
    bool cpuset;

    snprintf(path, sizeof(path), "%s/cgroup.controllers", cgroup_root);
    controllers = rootfs_read(root, path);
    if (!controllers) {
        berth_error_set(err, "%s: %s", path, strerror(errno));
        return 0;
    }
    cpuset = strstr(controllers, "cpuset") != NULL;
    free(controllers);
    if (!cpuset) {
        berth_error_set(err, "%s: no cpuset controller", path);
        return 0;
    }
    snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup_root);
    return enforce_probe_file(root, path, err);
}

/* ---- finding a step ---- */

/* Takes a folder of the step, if it is the job's: a step of another job can have this number. One
 * whose slurmstepd tells no number is believed. */
static bool take_leaf(struct enforce *enforce, struct enforce_step *step, const char *job,
                      const char *name)
{
    uint32_t number = slurm_folders_job(enforce_slurm(enforce), job);
    size_t top = strlen(enforce->cgroup_root) + 1;
    char user[CGROUP_DIR_MAX];
    bool took;

    if (number != step->id.job && number < SLURM_FOLDERS_UNKNOWN)
        return false;
    took = (size_t)snprintf(step->leaf, sizeof(step->leaf), "%s/%s", job + top, name) <
           sizeof(step->leaf);
    step_dir(enforce, step, "/user", user);
    if (took && rootfs_exists(enforce->root, user)) {
        slurm_folders_learn(enforce_slurm(enforce), job, step->id.job);
        return true;
    }
    step->leaf[0] = '\0';
    return false;
}

/* Takes the step's folder from the path of a process in the hierarchy. */
static bool take_path(struct enforce *enforce, struct enforce_step *step, const char *path)
{
    const char *end = step_cgroup_find(path, step->id);
    char job[CGROUP_DIR_MAX], *name;

    if (!end || (size_t)snprintf(job, sizeof(job), "%s%.*s", enforce->cgroup_root,
                                 (int)(end - path), path) >= sizeof(job))
        return false;
    name = strrchr(job, '/');
    *name++ = '\0';
    return take_leaf(enforce, step, job, name);
}

/* Takes it from where its tasks are, as the kernel has it. `where`: where the first of them is
 * instead. */
static bool find_by_tasks(struct enforce *enforce, struct enforce_step *step, char where[256])
{
    bool found = false;

    for (size_t i = 0; !found && i < step->ntasks; i++) {
        char path[64], *text;
        const char *at;

        snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)step->task[i].pid);
        text = rootfs_read(enforce->root, path);
        at = text ? step_cgroup_line(text, NULL) : NULL;
        found = at && take_path(enforce, step, at);
        if (at && i == 0)
            snprintf(where, 256, "%.*s", (int)strcspn(at, "\n"), at);
        free(text);
    }
    return found;
}

struct search {
    struct enforce_step *step;
    const char *name; /* of its folder */
};

static int try_job(struct enforce *enforce, const char *path, void *arg)
{
    const struct search *search = arg;

    return slurm_folders_job(enforce_slurm(enforce), path) == search->step->id.job &&
           take_leaf(enforce, search->step, path, search->name);
}

/* Finds the step's folder: by its tasks; where what was registered is no number that they have here
 * (they have a PID namespace of their own), by its name. */
static int find_step(struct enforce *enforce, const char *node, struct enforce_step *step,
                     struct berth_error *err)
{
    char name[STEP_CGROUP_NAME_MAX], where[256] = "none";
    struct search search = {step, name};

    step_cgroup_name(step->id, name);
    search.name = strchr(name, '/') + 1;
    if (find_by_tasks(enforce, step, where) ||
        enforce_each_job(enforce, node, NULL, try_job, &search) > 0)
        return 0;
    wire_step_name(step->id, name);
    return berth_error_set(err, "step %s has no cgroup below %s; its task %d is in %s", name,
                           enforce->cgroup_root, (int)step->task[0].pid, where);
}

/* Has Slurm given the job no list of its own? */
static bool unconfined(struct enforce *enforce, const struct enforce_step *step)
{
    char job[CGROUP_DIR_MAX];
    struct cpus cpus;

    job_dir(enforce, step, job);
    return enforce_read_cpus(enforce->root, job, CPUS, &cpus, NULL) == 0 && cpus_empty(&cpus);
}

static int cgroup2_locate(struct enforce *enforce, const char *node, struct enforce_step *step,
                          struct berth_error *err)
{
    char job[CGROUP_DIR_MAX], user[CGROUP_DIR_MAX];

    if (step->ntasks == 0)
        return berth_error_set(err, "the step has no tasks");
    if (find_step(enforce, node, step, err) < 0 || enforce_find_tasks(enforce, step, err) < 0)
        return -1;
    job_dir(enforce, step, job);
    step_dir(enforce, step, "/user", user);
    if (enforce_read_cpus(enforce->root, user, "cpuset.mems.effective", &step->mems_home, err) < 0)
        return -1;
    if (unconfined(enforce, step))
        return enforce_read_unconfined(enforce, step, err);
    if (enforce_read_cpus(enforce->root, job, CPUS, &step->job_home, err) < 0 ||
        enforce_read_cpus(enforce->root, user, EFFECTIVE, &step->step_home, err) < 0)
        return -1;
    return enforce_read_homes(step, &step->step_home, err);
}

static int cgroup2_pids(struct enforce *enforce, const struct enforce_step *step,
                        struct enforce_pids *list)
{
    char user[CGROUP_DIR_MAX];

    step_dir(enforce, step, "/user", user);
    return enforce_pids_leaf(enforce, step, user, list);
}

/* ---- widening and pinning ---- */

static int add_step_cpus(struct enforce *enforce, const char *dir, void *arg)
{
    char user[CGROUP_DIR_MAX + 8];
    struct cpus cpus;

    snprintf(user, sizeof(user), "%s/user", dir);
    if (enforce_read_cpus(enforce->root, user, CPUS, &cpus, NULL) == 0)
        cpus_or(arg, &cpus);
    return 0;
}

/* Give the job Slurm's allocation, what its steps stand on now, and want; unless it follows the
 * parent anyway. */
static int set_job(struct enforce *enforce, const struct enforce_step *step,
                   const struct cpus *want, struct berth_error *err)
{
    const struct enforce_list list = {step->id, HAND_JOB, false};
    struct cpus cpus = step->job_home;
    char job[CGROUP_DIR_MAX];

    if (unconfined(enforce, step))
        return 0;
    job_dir(enforce, step, job);
    cpus_or(&cpus, want);
    enforce_each_dir(enforce, job, "step_", add_step_cpus, &cpus);
    return enforce_write_list(enforce, &list, job, &cpus, err);
}

/* Give the step its home and want; where Slurm left its list empty it follows the job anyway. */
static int set_step(struct enforce *enforce, const struct enforce_step *step,
                    const struct cpus *want, struct berth_error *err)
{
    const struct enforce_list list = {step->id, HAND_LEAF, false};
    struct cpus cpus;
    char dir[CGROUP_DIR_MAX];

    step_dir(enforce, step, "", dir);
    if (enforce_read_cpus(enforce->root, dir, CPUS, &cpus, err) < 0)
        return -1;
    if (cpus_empty(&cpus))
        return 0;
    cpus = step->step_home;
    cpus_or(&cpus, want);
    return enforce_write_list(enforce, &list, dir, &cpus, err);
}

struct pinning {
    const struct enforce_step *step;
    enum enforce_where where;
    const struct cpus *want;     /* of `user` */
    struct process_table *table; /* of the step's processes */
    struct berth_error *err;
};

/* Returns whose processes are in task_N, or -1. What N counts is Slurm's affair: from 23.11 on the
 * tasks of the whole step, of which only some are on this node. */
static long task_of_dir(struct enforce *enforce, const char *dir, const struct pinning *pinning)
{
    struct enforce_pids list = {0};
    long task = -1;

    if (enforce_pids_cgroup(enforce->root, NULL, dir, &list) == 0)
        for (size_t i = 0; task < 0 && i < list.n; i++)
            task = enforce_task_of(pinning->table, pinning->step, list.pid[i]);
    free(list.pid);
    return task;
}

/* What task_N shall have: its task's CPUs, or those of `user`, again or where the step is wide or
 * has ranks, which are in one folder with their launcher: a list that is not empty cannot become so
 * while there are processes (ENOSPC). NULL: it is left as it is. */
static const struct cpus *pinned_to(struct enforce *enforce, const char *dir,
                                    const struct pinning *pinning)
{
    struct cpus now;
    long task;

    if (enforce_read_cpus(enforce->root, dir, CPUS, &now, NULL) < 0)
        return NULL; /* the controller is not enabled so far down */
    task = pinning->where == ENFORCE_PLACE && !pinning->step->wide && !pinning->step->ranks
               ? task_of_dir(enforce, dir, pinning)
               : -1;
    if (task >= 0)
        return &pinning->step->task[task].cpus;
    return cpus_empty(&now) ? NULL : pinning->want;
}

static int pin_task(struct enforce *enforce, const char *dir, void *arg)
{
    const struct pinning *pinning = arg;
    const struct enforce_list list = {pinning->step->id, HAND_TASK, false};
    const struct cpus *to = pinned_to(enforce, dir, pinning);

    return to ? enforce_write_list(enforce, &list, dir, to, pinning->err) : 0;
}

static int check_task(struct enforce *enforce, const char *dir, void *arg)
{
    const struct pinning *pinning = arg;
    const struct cpus *to = pinned_to(enforce, dir, pinning);

    return to ? enforce_check_cpus(enforce->root, dir, CPUS, to, pinning->err) : 0;
}

static int pin(struct enforce *enforce, const struct enforce_step *step, enum enforce_where where,
               const struct cpus *want, struct berth_error *err)
{
    struct process_table table;
    struct pinning pinning = {step, where, want, &table, err};
    const struct enforce_list list = {step->id, HAND_USER, false};
    char user[CGROUP_DIR_MAX];
    int rc;

    step_dir(enforce, step, "/user", user);
    if (enforce_write_list(enforce, &list, user, want, err) < 0)
        return -1;
    process_table_open(&table, enforce->root);
    rc = enforce_each_dir(enforce, user, "task_", pin_task, &pinning);
    process_table_close(&table);
    return rc;
}

static int cgroup2_stands(struct enforce *enforce, const struct enforce_step *step,
                          struct berth_error *err)
{
    struct process_table table;
    struct cpus want;
    struct pinning pinning = {step, ENFORCE_PLACE, &want, &table, err};
    char user[CGROUP_DIR_MAX];
    int rc;

    enforce_bounds(step, &want);
    step_dir(enforce, step, "/user", user);
    if (enforce_check_cpus(enforce->root, user, CPUS, &want, err) < 0 ||
        enforce_check_cpus(enforce->root, user, EFFECTIVE, &want, err) < 0)
        return -1;
    process_table_open(&table, enforce->root);
    rc = enforce_each_dir(enforce, user, "task_", check_task, &pinning);
    process_table_close(&table);
    return rc;
}

/* What `user` gets back: Slurm's list, or all that there is. */
static int read_unpinned(struct enforce *enforce, const struct enforce_step *step,
                         struct cpus *cpus, struct berth_error *err)
{
    char dir[CGROUP_DIR_MAX];

    *cpus = step->step_home;
    if (!unconfined(enforce, step))
        return 0;
    step_dir(enforce, step, "", dir);
    return enforce_read_cpus(enforce->root, dir, EFFECTIVE, cpus, err);
}

/* Notes on `user` what it gets back, before it is changed. */
static void mark_user(struct enforce *enforce, const struct enforce_step *step)
{
    struct cpus cpus;

    if (read_unpinned(enforce, step, &cpus, NULL) == 0)
        hand_ask_mark(enforce->hand, step->id, &cpus);
}

static int cgroup2_apply(struct enforce *enforce, const struct enforce_step *step,
                         struct berth_error *err)
{
    struct cpus want;
    bool stands;

    enforce_bounds(step, &want);
    if (cpus_empty(&want))
        return berth_error_set(err, "no CPUs to stand on");
    stands = cgroup2_stands(enforce, step, NULL) == 0;
    if (!stands || step->wide)
        mark_user(enforce, step);
    if (!stands &&
        (set_job(enforce, step, &want, err) < 0 || set_step(enforce, step, &want, err) < 0 ||
         pin(enforce, step, ENFORCE_PLACE, &want, err) < 0 ||
         cgroup2_stands(enforce, step, err) < 0))
        return -1;
    return enforce_settle(enforce, step, ENFORCE_PLACE, stands, err);
}

static void cgroup2_job_list(const struct enforce *enforce, const struct enforce_step *step,
                             char *path)
{
    job_dir(enforce, step, path);
    strncat(path, "/" CPUS, CGROUP_DIR_MAX - strlen(path) - 1);
}

static bool cgroup2_gone(struct enforce *enforce, const struct enforce_step *step)
{
    char user[CGROUP_DIR_MAX];

    step_dir(enforce, step, "/user", user);
    return !rootfs_exists(enforce->root, user);
}

static void cgroup2_folder(const struct enforce *enforce, const struct enforce_step *step,
                           char *dir)
{
    step_dir(enforce, step, "/user", dir);
}

static int cgroup2_restore(struct enforce *enforce, const struct enforce_step *step,
                           struct berth_error *err)
{
    const struct cpus *home = &step->step_home;
    char job[CGROUP_DIR_MAX];
    struct cpus unpinned;

    if (!step->leaf[0]) /* never located */
        return 0;
    if ((read_unpinned(enforce, step, &unpinned, err) < 0 ||
         pin(enforce, step, ENFORCE_HOME, &unpinned, err) < 0 ||
         set_step(enforce, step, home, err) < 0) &&
        !cgroup2_gone(enforce, step))
        return -1;
    hand_ask_mark(enforce->hand, step->id, NULL);
    job_dir(enforce, step, job);
    if (set_job(enforce, step, home, err) < 0 && rootfs_exists(enforce->root, job))
        return -1;
    return enforce_settle(enforce, step, ENFORCE_HOME, false, err);
}

const struct enforce_way enforce_cgroup2 = {.name = "cgroup2",
                                            .touches = true,
                                            .probe = cgroup2_probe,
                                            .locate = cgroup2_locate,
                                            .apply = cgroup2_apply,
                                            .restore = cgroup2_restore,
                                            .folder = cgroup2_folder,
                                            .give_back = leaf_mark_undo,
                                            .stands = cgroup2_stands,
                                            .gone = cgroup2_gone,
                                            .job_list = cgroup2_job_list,
                                            .pids = cgroup2_pids,
                                            .jobs = slurm_jobs_cgroup2};
