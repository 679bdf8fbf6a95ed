/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place - where the folders of a step are, and the files in them that the hand writes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/hand/hand_impl.h"

#define NAME_OF_TASK "abcdefghijklmnopqrstuvwxyz0123456789_"

void hand_own_path(const struct hand *hand, struct wire_step_id id, char path[CGROUP_DIR_MAX])
{
    char name[WIRE_STEP_NAME_MAX];

    wire_step_name(id, name);
    snprintf(path, CGROUP_DIR_MAX, "%s/cpuset/%s/%s", hand->site.cgroup_root, hand->site.tree,
             name);
}

static bool is_task(const char *task)
{
    return task && memchr(task, '\0', HAND_TASK_MAX) && strncmp(task, "task_", 5) == 0 &&
           task[strspn(task, NAME_OF_TASK)] == '\0';
}

/* Slurm's folders: the leaf, what is above it, or below. */
static bool slurms_path(const struct hand *hand, const struct hand_known *step,
                        enum hand_place place, const char *task, char *path)
{
    bool unified = hand->site.unified;
    const char *user = unified && (place == HAND_USER || place == HAND_TASK) ? "/user" : "";

    if (!step || !step->leaf[0] || ((place == HAND_JOB || place == HAND_USER) && !unified) ||
        (place == HAND_TASK && !is_task(task)))
        return false;
    if (snprintf(path, CGROUP_DIR_MAX, "%s%s/%s%s%s%s", hand->site.cgroup_root,
                 unified ? "" : "/cpuset", step->leaf, user, place == HAND_TASK ? "/" : "",
                 place == HAND_TASK ? task : "") >= CGROUP_DIR_MAX)
        return false;
    if (place == HAND_JOB)
        *strrchr(path, '/') = '\0';
    return true;
}

bool hand_place_path(const struct hand *hand, const struct hand_known *step, enum hand_place place,
                     const char *task, char path[CGROUP_DIR_MAX])
{
    switch (place) {
    case HAND_OWN:
        if (hand->site.unified || !step)
            return false;
        hand_own_path(hand, step->id, path);
        return true;
    case HAND_TREE:
        snprintf(path, CGROUP_DIR_MAX, "%s/cpuset/%s", hand->site.cgroup_root, hand->site.tree);
        return !hand->site.unified;
    case HAND_LEAF:
    case HAND_JOB:
    case HAND_USER:
    case HAND_TASK:
        return slurms_path(hand, step, place, task, path);
    case HAND_PLACES:
        break;
    }
    return false;
}

/* ---- files ---- */

int hand_read_cpus(const struct hand *hand, const char *dir, const char *file, struct cpus *cpus,
                   struct berth_error *err)
{
    char path[CGROUP_DIR_MAX + 32];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    return rootfs_read_cpus(hand->site.root, path, cpus, err);
}

int hand_write_cpus(const struct hand *hand, const char *dir, const char *file,
                    const struct cpus *cpus, struct berth_error *err)
{
    char path[CGROUP_DIR_MAX + 32];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    return rootfs_write_cpus(hand->site.root, path, cpus, err);
}

void hand_nearest_living(const struct hand *hand, char *dir)
{
    size_t top = strlen(hand->site.cgroup_root) + strlen("/cpuset");
    struct cpus cpus;

    while (strlen(dir) > top &&
           (hand_read_cpus(hand, dir, "cpuset.cpus", &cpus, NULL) < 0 || cpus_empty(&cpus)))
        *strrchr(dir, '/') = '\0';
}

int hand_move_process(const struct hand *hand, pid_t pid, const char *dir, struct berth_error *err)
{
    char path[CGROUP_DIR_MAX + 16], text[16];

    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    snprintf(text, sizeof(text), "%d", (int)pid);
    if (rootfs_write(hand->site.root, path, text, err) == 0)
        return 1;
    return errno == ESRCH ? 0 : -1;
}
