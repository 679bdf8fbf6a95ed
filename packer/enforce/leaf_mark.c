/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leaf_mark - see leaf_mark.h */
#include "packer/enforce/leaf_mark.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "packer/base/file.h"
#include "packer/enforce/enforce.h"
#include "packer/enforce/list.h"

/* Several slurmd may run on one host: each berthd has a name of its own (cgroup_name). */
static void name_of(const struct enforce *enforce, char name[96])
{
    snprintf(name, 96, "user.berth.%s", enforce->tree);
}

static int open_dir(const struct enforce *enforce, const char *dir)
{
    return rootfs_openat(enforce->root, dir, O_RDONLY | O_DIRECTORY);
}

bool leaf_mark_get(const struct enforce *enforce, const char *dir, struct cpus *cpus)
{
    char name[96], text[CPUS_TEXT_MAX];
    int fd = open_dir(enforce, dir);
    ssize_t length;

    name_of(enforce, name);
    length = fd < 0 ? -1 : fgetxattr(fd, name, text, sizeof(text) - 1);
    file_close(fd);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return cpus_parse(cpus, text) == 0;
}

/* ---- what a lost journal left ---- */

struct undoing {
    const struct wire_step_id *known;
    size_t n, undone;
    uint32_t job;
    const char *below; /* the step's folder: of the tasks */
    struct berth_error *err;
};

/* What the folder had, as far as its job has it still. */
static int read_home(struct enforce *enforce, const char *step, struct cpus *home,
                     struct berth_error *err)
{
    char job[CGROUP_DIR_MAX];
    struct cpus all;

    snprintf(job, sizeof(job), "%s", step);
    *strrchr(job, '/') = '\0';
    if (enforce_read_cpus(enforce->root, job, "cpuset.cpus", &all, err) < 0)
        return -1;
    if (cpus_empty(&all)) /* of cgroup v2: it has its parent's */
        return 0;
    cpus_and(home, &all);
    if (cpus_empty(home))
        *home = all;
    return 0;
}

struct writing {
    struct wire_step_id id;
    const struct cpus *cpus;
    struct berth_error *err;
};

static int write_cpus(struct enforce *enforce, const char *dir, void *arg)
{
    const struct writing *writing = arg;
    const struct enforce_list list = {writing->id, HAND_TASK, false};
    struct cpus now;

    if (enforce_read_cpus(enforce->root, dir, "cpuset.cpus", &now, NULL) < 0)
        return 0; /* the controller is not enabled so far down */
    return enforce_write_list(enforce, &list, dir, writing->cpus, writing->err);
}

/* Parents are never smaller than their children. */
static int give_cpus(struct enforce *enforce, struct wire_step_id id, const char *dir,
                     const struct cpus *home, struct berth_error *err)
{
    bool unified = enforce_slurm(enforce).unified;
    const struct enforce_list list = {id, unified ? HAND_USER : HAND_LEAF, false};
    struct writing writing = {id, home, err};
    struct cpus both;

    if (enforce_read_cpus(enforce->root, dir, "cpuset.cpus", &both, err) < 0)
        return -1;
    cpus_or(&both, home);
    if (enforce_write_list(enforce, &list, dir, &both, err) < 0 ||
        enforce_each_dir(enforce, dir, "task_", write_cpus, &writing) < 0)
        return -1;
    return enforce_write_list(enforce, &list, dir, home, err);
}

static int give_affinity(struct enforce *enforce, struct wire_step_id id, const char *dir,
                         const struct cpus *home, struct berth_error *err)
{
    const struct enforce_step nobody = {.ntasks = 0};
    struct enforce_pids list = {0};
    int rc = enforce_pids_leaf(enforce, &nobody, dir, &list);

    for (size_t i = 0; rc == 0 && i < list.n; i++)
        rc = enforce_set_affinity(enforce, id, list.pid[i], home, err);
    free(list.pid);
    return rc;
}

/* Tells the hand of a step that nobody knows any more: Slurm's folder says whose it is. */
static int tell_hand(struct enforce *enforce, struct wire_step_id id, const char *path,
                     const struct cpus *home, struct berth_error *err)
{
    bool unified = enforce_slurm(enforce).unified;
    size_t top = strlen(enforce->cgroup_root) + strlen(unified ? "/" : "/cpuset/");
    struct enforce_step step = {.id = id, .job_home = *home};
    const char *user = strstr(path + top, "/uid_");

    if ((size_t)snprintf(step.leaf, sizeof(step.leaf), "%s", path + top) >= sizeof(step.leaf))
        return berth_error_set(err, "%.64s...: the path is too long", path);
    step.uid = user ? (uint32_t)strtoul(user + strlen("/uid_"), NULL, 10) : 0;
    return enforce_register(enforce, &step, err);
}

/* `path`: the step's folder; `dir`: what is marked. 0, or -1 and err. */
static int give_back(struct enforce *enforce, struct wire_step_id id, const char *path,
                     const char *dir, struct cpus *home, struct berth_error *err)
{
    int rc = -1;

    if (read_home(enforce, path, home, err) < 0 || tell_hand(enforce, id, path, home, err) < 0)
        return -1;
    if (give_cpus(enforce, id, dir, home, err) == 0 &&
        give_affinity(enforce, id, dir, home, err) == 0) {
        hand_ask_mark(enforce->hand, id, NULL);
        rc = 0;
    }
    enforce_unregister(enforce, id);
    return rc;
}

/* .../JOB/step_S */
static int undo_step(struct enforce *enforce, const char *path, void *arg)
{
    char name[WIRE_STEP_NAME_MAX], dir[CGROUP_DIR_MAX + 8];
    const char *step = strrchr(path, '/') + strlen("/step_");
    struct undoing *undoing = arg;
    struct wire_step_id id;
    struct cpus home;

    snprintf(dir, sizeof(dir), "%s%s", path, undoing->below);
    if (!leaf_mark_get(enforce, dir, &home))
        return 0;
    if ((size_t)snprintf(name, sizeof(name), "%u.%s", undoing->job, step) >= sizeof(name) ||
        wire_step_parse(name, &id) < 0 || enforce_step_known(id, undoing->known, undoing->n))
        return 0;
    undoing->undone += give_back(enforce, id, path, dir, &home, undoing->err) == 0;
    return 0;
}

static int undo_job(struct enforce *enforce, const char *path, void *arg)
{
    struct undoing *undoing = arg;

    undoing->job = slurm_folders_job(enforce_slurm(enforce), path);
    return enforce_each_dir(enforce, path, "step_", undo_step, arg);
}

static int undo_user(struct enforce *enforce, const char *path, void *arg)
{
    return enforce_each_dir(enforce, path, "job_", undo_job, arg);
}

static int undo_top(struct enforce *enforce, const char *path, void *arg)
{
    return enforce_each_dir(enforce, path, "uid_", undo_user, arg);
}

size_t leaf_mark_undo(struct enforce *enforce, const struct wire_step_id *known, size_t n,
                      struct berth_error *err)
{
    bool unified = enforce_slurm(enforce).unified;
    struct undoing undoing = {known, n, 0, 0, unified ? "/user" : "", err};
    char top[CGROUP_DIR_MAX];

    snprintf(top, sizeof(top), "%s/cpuset", enforce->cgroup_root);
    if (unified)
        enforce_each_job(enforce, NULL, NULL, undo_job, &undoing);
    else
        enforce_each_dir(enforce, top, "slurm", undo_top, &undoing);
    return undoing.undone;
}
