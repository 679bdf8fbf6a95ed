/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_tree - see slurm_tree.h */
#include "tests/unit/common/slurm_tree.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/common/folder.h"

#define WHOLE_JOB UINT32_MAX

const struct slurm_series slurm_series[] = {
    {.name = "22.05 v1", .top = "slurm_n1/uid_1000"},
    {.name = "22.05 v2",
     .unified = true,
     .top = "system.slice/n1_slurmstepd.scope",
     .task_dirs = true},
    {.name = "24.11 v1", .top = "slurm/uid_1000", .task_dirs = true, .global = true},
    {.name = "24.11 v2",
     .unified = true,
     .top = "system.slice/slurmstepd.scope",
     .task_dirs = true,
     .global = true},
    {.name = "26.05 v1", .top = "slurm_n1/uid_1000", .task_dirs = true, .global = true},
    {.name = "26.05 v2",
     .unified = true,
     .top = "system.slice/n1_slurmstepd.scope",
     .sluid = true,
     .task_dirs = true,
     .global = true},
    {.name = "26.05 v2 CgroupJobIdPaths=yes",
     .unified = true,
     .top = "system.slice/n1_slurmstepd.scope",
     .task_dirs = true,
     .global = true},
    {.name = "26.05 v2 CgroupSlice=hpc-jobs.slice",
     .unified = true,
     .top = "hpc.slice/hpc-jobs.slice/n1_slurmstepd.scope",
     .sluid = true,
     .task_dirs = true,
     .global = true},
};
const size_t slurm_series_n = sizeof(slurm_series) / sizeof(slurm_series[0]);

/* ---- files ---- */

static void cgroup_path(const struct slurm_tree *tree, const char *cgroup, const char *file,
                        char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "cg/%s%s/%s", tree->series->unified ? "" : "cpuset/", cgroup, file);
}

static void put(const struct slurm_tree *tree, const char *cgroup, const char *file,
                const char *text)
{
    char path[PATH_MAX];

    cgroup_path(tree, cgroup, file, path);
    folder_put(tree->dir, path, text);
}

/* Lets the effective list be the one that is written. */
static void link_effective(const struct slurm_tree *tree, const char *cgroup, const char *file)
{
    char path[PATH_MAX], full[PATH_MAX + 64];

    cgroup_path(tree, cgroup, file, path);
    snprintf(full, sizeof(full), "%s/%s", tree->dir, path);
    unlink(full);
    if (symlink("cpuset.cpus", full) < 0)
        abort();
}

/* A cgroup in which nobody is. */
static void make(const struct slurm_tree *tree, const char *cgroup, const char *cpus)
{
    put(tree, cgroup, "cpuset.cpus", cpus);
    put(tree, cgroup, "cgroup.procs", "");
    if (tree->series->unified) {
        put(tree, cgroup, "cgroup.events", "populated 0\nfrozen 0\n");
        put(tree, cgroup, "cpuset.mems.effective", "0\n");
        link_effective(tree, cgroup, "cpuset.cpus.effective");
    } else {
        put(tree, cgroup, "cpuset.mems", "0\n");
        link_effective(tree, cgroup, "cpuset.effective_cpus");
    }
}

static void add_pid(const struct slurm_tree *tree, const char *procs, pid_t pid)
{
    char full[PATH_MAX + 64];
    FILE *file;

    snprintf(full, sizeof(full), "%s/%s", tree->dir, procs);
    file = fopen(full, "a");
    if (!file || fprintf(file, "%d\n", (int)pid) < 0 || fclose(file) != 0)
        abort();
}

/* Under v1 the freezer, too, has the process, which Slurm tracks it by. */
static void enter(const struct slurm_tree *tree, const char *cgroup, pid_t pid)
{
    char path[PATH_MAX];

    cgroup_path(tree, cgroup, "cgroup.procs", path);
    add_pid(tree, path, pid);
    if (tree->series->unified)
        return;
    snprintf(path, sizeof(path), "cg/freezer/%s", cgroup);
    folder_make(tree->dir, path);
    strcat(path, "/cgroup.procs");
    add_pid(tree, path, pid);
}

/* ---- processes ---- */

struct made {
    pid_t pid, parent, inner;
    unsigned uid;
    const char *name, *title;
    const char *cgroup; /* "": none of Slurm's */
};

static void put_proc(const struct slurm_tree *tree, pid_t pid, const char *file, const char *text)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "proc/%d/%s", (int)pid, file);
    folder_put(tree->dir, path, text);
}

static void put_process(const struct slurm_tree *tree, const struct made *made)
{
    char text[PATH_MAX], children[64], inner[16] = "";

    if (made->inner)
        snprintf(inner, sizeof(inner), "\t%d", (int)made->inner);
    snprintf(text, sizeof(text), "Name:\t%s\nState:\tS\nUid:\t%u\t%u\t%u\t%u\nNSpid:\t%d%s\n",
             made->name, made->uid, made->uid, made->uid, made->uid, (int)made->pid, inner);
    put_proc(tree, made->pid, "status", text);
    snprintf(text, sizeof(text),
             "%d (%s) S %d 1 1 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 %lld 4096 1 0 0 0 0\n",
             (int)made->pid, made->name, (int)made->parent, 1000LL + made->pid);
    put_proc(tree, made->pid, "stat", text);
    put_proc(tree, made->pid, "cmdline", made->title ? made->title : made->name);
    if (tree->series->unified)
        snprintf(text, sizeof(text), "0::/%s\n", made->cgroup);
    else
        snprintf(text, sizeof(text),
                 "9:freezer:/%s\n5:cpu,cpuacct:/%s\n4:memory:/%s\n3:cpuset:/%s\n0::/\n",
                 made->cgroup, made->cgroup, made->cgroup, made->cgroup);
    put_proc(tree, made->pid, "cgroup", text);
    snprintf(children, sizeof(children), "task/%d/children", (int)made->pid);
    put_proc(tree, made->pid, children, "");
}

/* ---- a node ---- */

void slurm_tree_open(struct slurm_tree *tree, const struct slurm_series *series)
{
    const char *scope = strrchr(series->top, '/');
    char other[128];

    *tree = (struct slurm_tree){.series = series};
    folder_new(tree->dir, sizeof(tree->dir), "berth-tree");
    if (rootfs_open(&tree->root, tree->dir, NULL) < 0)
        abort();
    if (series->unified) {
        folder_put(tree->dir, "cg/cgroup.controllers", "cpuset cpu io memory pids\n");
        folder_put(tree->dir, "cg/cgroup.procs", "");
        make(tree, "system.slice", "");
        make(tree, "system.slice/ssh.service", "");
        make(tree, "user.slice/user-1000.slice/session-1.scope", "");
        snprintf(other, sizeof(other), "%.*s/n2_slurmstepd.scope/job_7", (int)(scope - series->top),
                 series->top);
    } else {
        put(tree, "", "cpuset.cpus", "0-7\n");
        put(tree, "", "cpuset.mems", "0\n");
        snprintf(other, sizeof(other), "slurm_n2/uid_1000/job_7");
    }
    make(tree, series->top, series->unified ? "" : "0-7\n");
    make(tree, other, "7\n"); /* of another slurmd on this host */
    if (enforce_open(&tree->enforce, &tree->root, "/cg", "auto", NULL) < 0)
        abort();
}

void slurm_tree_close(struct slurm_tree *tree)
{
    enforce_close(&tree->enforce);
    rootfs_close(&tree->root);
    if (folder_remove(tree->dir) < 0)
        abort();
}

void slurm_tree_path(const struct slurm_tree *tree, struct wire_step_id id, char *path, size_t size)
{
    char step[WIRE_STEP_NAME_MAX], job[32];
    int length;

    /* a SLUID has the cluster, a time and a counter: the counter differs */
    snprintf(job, sizeof(job), tree->series->sluid ? "s2QSM817N8%04u" : "job_%u", id.job);
    length = snprintf(path, size, "%s/%s", tree->series->top, job);
    if (id.step == WHOLE_JOB)
        return;
    wire_step_name(id, step);
    snprintf(path + length, size - (size_t)length, "/step_%s", strchr(step, '.') + 1);
}

void slurm_tree_job(const struct slurm_tree *tree, uint32_t job, const char *cpus)
{
    char path[512];

    slurm_tree_path(tree, (struct wire_step_id){job, WHOLE_JOB}, path, sizeof(path));
    make(tree, path, cpus);
}

static void populate(const struct slurm_tree *tree, uint32_t job, bool any)
{
    char path[512];

    if (!tree->series->unified)
        return;
    slurm_tree_path(tree, (struct wire_step_id){job, WHOLE_JOB}, path, sizeof(path));
    put(tree, path, "cgroup.events", any ? "populated 1\nfrozen 0\n" : "populated 0\nfrozen 0\n");
}

void slurm_tree_step(const struct slurm_tree *tree, struct wire_step_id id, const char *cpus,
                     pid_t stepd)
{
    char dir[512], name[WIRE_STEP_NAME_MAX], title[64];
    size_t length;

    wire_step_name(id, name);
    snprintf(title, sizeof(title), "slurmstepd: [%s]", name);
    slurm_tree_path(tree, id, dir, sizeof(dir));
    length = strlen(dir);
    make(tree, dir, tree->series->unified ? "" : cpus);
    if (tree->series->unified) {
        strcat(dir, "/user");
        make(tree, dir, cpus);
        strcpy(dir + length, "/slurm");
        make(tree, dir, "");
    }
    if (!stepd)
        return;
    enter(tree, dir, stepd);
    put_process(
        tree, &(struct made){
                  .pid = stepd, .parent = 1, .name = "slurmstepd", .title = title, .cgroup = dir});
    populate(tree, id.job, true);
}

void slurm_tree_task(const struct slurm_tree *tree, struct wire_step_id id,
                     const struct slurm_tree_task *task)
{
    char dir[512], path[PATH_MAX], full[PATH_MAX + 64];

    slurm_tree_path(tree, id, dir, sizeof(dir));
    if (tree->series->unified)
        strcat(dir, "/user");
    if (tree->series->task_dirs)
        snprintf(dir + strlen(dir), 32, "/task_%u",
                 tree->series->global ? task->global : task->local);
    cgroup_path(tree, dir, "cgroup.procs", path);
    snprintf(full, sizeof(full), "%s/%s", tree->dir, path);
    if (access(full, F_OK) < 0)
        make(tree, dir, "");
    enter(tree, dir, task->pid);
    put_process(tree, &(struct made){.pid = task->pid,
                                     .parent = task->parent,
                                     .inner = task->inner,
                                     .uid = 1000,
                                     .name = task->name ? task->name : "prog",
                                     .cgroup = dir});
    populate(tree, id.job, true);
}

/* Writes where a process of the freezer's is, which is in no cpuset. */
static int leave_cpuset(struct enforce *enforce, const char *path, void *arg)
{
    const struct slurm_tree *tree = arg;
    struct enforce_pids list = {0};
    char text[PATH_MAX];

    enforce_pids_cgroup(enforce->root, NULL, path, &list);
    for (size_t i = 0; i < list.n; i++) {
        snprintf(text, sizeof(text), "9:freezer:%s\n3:cpuset:/\n0::/\n",
                 path + strlen("/cg/freezer"));
        put_proc(tree, list.pid[i], "cgroup", text);
    }
    free(list.pid);
    return enforce_each_dir(enforce, path, "task_", leave_cpuset, arg);
}

static int drop_list(struct enforce *enforce, const char *path, void *arg)
{
    const struct slurm_tree *tree = arg;

    if (strcmp(strrchr(path, '/'), "/cpuset.cpus") == 0)
        folder_put(tree->dir, path + 1, "\n");
    else
        enforce_each_dir(enforce, path, "", drop_list, arg);
    return 0;
}

void slurm_tree_unconfine(const struct slurm_tree *tree, struct wire_step_id id)
{
    struct enforce enforce = tree->enforce;
    char dir[512], path[PATH_MAX];

    slurm_tree_path(tree, id, dir, sizeof(dir));
    if (tree->series->unified) {
        *strrchr(dir, '/') = '\0';
        snprintf(path, sizeof(path), "/cg/%s", dir);
        drop_list(&enforce, path, (void *)tree);
        return;
    }
    snprintf(path, sizeof(path), "/cg/freezer/%s", dir);
    leave_cpuset(&enforce, path, (void *)tree);
    *strrchr(dir, '/') = '\0';
    snprintf(path, sizeof(path), "%s/cg/cpuset/%s", tree->dir, dir);
    if (folder_remove(path) < 0)
        abort();
}

void slurm_tree_stranger(const struct slurm_tree *tree, pid_t pid, pid_t parent, const char *name)
{
    put_process(tree, &(struct made){.pid = pid, .parent = parent, .name = name, .cgroup = ""});
}

void slurm_tree_read(const struct slurm_tree *tree, struct wire_step_id id, const char *below,
                     char *text, size_t size)
{
    char dir[512], path[PATH_MAX], full[PATH_MAX + 64];

    slurm_tree_path(tree, id, dir, sizeof(dir));
    cgroup_path(tree, dir, below + 1, path);
    snprintf(full, sizeof(full), "%s/%s", tree->dir, path);
    file_line(full, text, size);
}

/* ---- ends ---- */

/* Under v1 it is in the tasks' folder, where there are none below it. */
void slurm_tree_kill(const struct slurm_tree *tree, struct wire_step_id id)
{
    char dir[512];

    slurm_tree_path(tree, id, dir, sizeof(dir));
    if (tree->series->unified)
        strcat(dir, "/slurm");
    if (tree->series->unified || tree->series->task_dirs)
        put(tree, dir, "cgroup.procs", "");
}

/* Takes everybody out of a folder and those below it. */
static int empty(struct enforce *enforce, const char *path, void *arg)
{
    const struct slurm_tree *tree = arg;
    char procs[PATH_MAX];

    snprintf(procs, sizeof(procs), "%s/cgroup.procs", path + 1);
    if (rootfs_exists(enforce->root, procs))
        folder_put(tree->dir, procs, "");
    return enforce_each_dir(enforce, path, "", empty, arg);
}

void slurm_tree_end(const struct slurm_tree *tree, uint32_t job)
{
    struct enforce enforce = tree->enforce;
    char dir[512], path[PATH_MAX];

    slurm_tree_path(tree, (struct wire_step_id){job, WHOLE_JOB}, dir, sizeof(dir));
    snprintf(path, sizeof(path), "/cg/%s%s", tree->series->unified ? "" : "cpuset/", dir);
    empty(&enforce, path, (void *)tree);
    populate(tree, job, false);
}
