/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enforce_cgroup - the files and folders of cgroups that both versions have. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/file.h"
#include "packer/enforce/enforce.h"
#include "packer/enforce/list.h"
#include "packer/system/process_waiting.h"

struct slurm_cgroups enforce_slurm(const struct enforce *enforce)
{
    return (struct slurm_cgroups){.root = enforce->root,
                                  .top = enforce->cgroup_root,
                                  .unified =
                                      enforce->way && enforce->way->jobs == slurm_jobs_cgroup2,
                                  .folders = enforce->folders};
}

int enforce_read_cpus(const struct rootfs *root, const char *dir, const char *file,
                      struct cpus *cpus, struct berth_error *err)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    return rootfs_read_cpus(root, path, cpus, err);
}

int enforce_check_cpus(const struct rootfs *root, const char *dir, const char *file,
                       const struct cpus *cpus, struct berth_error *err)
{
    char text[CPUS_TEXT_MAX] = "?", want[CPUS_TEXT_MAX] = "?";
    struct cpus now;

    if (enforce_read_cpus(root, dir, file, &now, err) < 0)
        return -1;
    if (cpus_equal(&now, cpus))
        return 0;
    cpus_format(&now, text, sizeof(text));
    cpus_format(cpus, want, sizeof(want));
    errno = EIO;
    return berth_error_set(err, "%.300s/%s: is '%.64s', not '%.64s'", dir, file, text, want);
}

int enforce_write_list(struct enforce *enforce, const struct enforce_list *list, const char *dir,
                       const struct cpus *cpus, struct berth_error *err)
{
    const char *file = list->mems ? "cpuset.mems" : "cpuset.cpus";
    const char *task = list->place == HAND_TASK ? strrchr(dir, '/') + 1 : NULL;

    if (enforce_check_cpus(enforce->root, dir, file, cpus, NULL) == 0)
        return 0;
    if (hand_ask_list(enforce->hand, list->id, list->place, task, list->mems, cpus, err) < 0)
        return -1;
    return enforce_check_cpus(enforce->root, dir, file, cpus, err);
}

int enforce_probe_file(const struct rootfs *root, const char *path, struct berth_error *err)
{
    /* What berth-hand may write has been tried before it was started. */
    int fd = rootfs_openat(root, path, hand_is_apart() ? O_RDONLY : O_RDWR);

    if (fd < 0)
        berth_error_set(err, "%s: %s", path, strerror(errno));
    file_close(fd);
    return fd >= 0;
}

int enforce_may_move(const struct enforce *enforce, pid_t pid, struct berth_error *err)
{
    if (!enforce->rebinds || !process_waiting(enforce->root, pid))
        return 0;
    errno = EBUSY;
    return berth_error_set(err,
                           "process %d waits in the kernel: to move it between cpusets could stop "
                           "the node, by a kernel before 6.2",
                           (int)pid);
}

bool enforce_step_known(struct wire_step_id id, const struct wire_step_id *known, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (known[i].job == id.job && known[i].step == id.step)
            return true;
    return false;
}

struct visiting {
    struct enforce *enforce;
    int (*visit)(struct enforce *enforce, const char *path, void *arg);
    void *arg;
};

static int visit_dir(struct slurm_cgroups slurm, const char *path, void *arg)
{
    const struct visiting *visiting = arg;

    (void)slurm;
    return visiting->visit(visiting->enforce, path, visiting->arg);
}

int enforce_each_dir(struct enforce *enforce, const char *dir, const char *prefix,
                     int (*visit)(struct enforce *enforce, const char *path, void *arg), void *arg)
{
    struct visiting visiting = {enforce, visit, arg};

    return slurm_each_dir(enforce_slurm(enforce), dir, prefix, visit_dir, &visiting);
}

int enforce_each_job(struct enforce *enforce, const char *node, size_t *scopes,
                     int (*visit)(struct enforce *enforce, const char *path, void *arg), void *arg)
{
    struct visiting visiting = {enforce, visit, arg};

    return slurm_folders_each(enforce_slurm(enforce), node, scopes, visit_dir, &visiting);
}

struct pids_of {
    const struct enforce_step *step;
    struct enforce_pids *list;
};

static int add_pids(struct enforce *enforce, const char *dir, void *arg)
{
    struct pids_of *of = arg;

    return enforce_pids_cgroup(enforce->root, of->step, dir, of->list);
}

int enforce_pids_leaf(struct enforce *enforce, const struct enforce_step *step, const char *dir,
                      struct enforce_pids *list)
{
    struct pids_of of = {.step = step, .list = list};

    if (add_pids(enforce, dir, &of) < 0)
        return -1;
    return enforce_each_dir(enforce, dir, "task_", add_pids, &of);
}
