/* SPDX-License-Identifier: GPL-2.0-or-later */
/* belongs - whether a process is one of a step that root has registered.
 *
 * The kernel says in which cgroups a process is, and of those that Slurm and berth make for a step,
 * only root makes one, or puts somebody into it. Where Slurm makes none, a process is the step's
 * that is, or descends from, a task that root's plugin has named. A process that has gone is none,
 * and that is no lie: they come and go. Its slurmstepd, which may be in the same folder, is none:
 * it has to end where Slurm looks for it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/hand/hand_impl.h"
#include "packer/system/process.h"
#include "packer/system/process_look.h"

#define GENERATIONS_MAX 64

/* ---- by its cgroups ---- */

/* Is the path of a process, which ends at a newline, the folder's, or in it? */
static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return *path == '/' && strncmp(path + 1, folder, length) == 0 &&
           (path[1 + length] == '/' || path[1 + length] == '\n' || path[1 + length] == '\0');
}

/* The same, and of a folder in which slurmstepd is, the part of the tasks. */
static bool is_in_folder(const struct hand *hand, const struct hand_known *step, const char *text)
{
    const char *path = step_cgroup_line(text, hand->site.unified ? NULL : "cpuset");
    char folder[HAND_LEAF_MAX + 8];

    if (!path)
        return false;
    snprintf(folder, sizeof(folder), "%s%s", step->leaf, hand->site.unified ? "/user" : "");
    if (step->leaf[0] && is_below(path, folder))
        return true;
    if (hand->site.unified)
        return false;
    wire_step_name(step->id, folder + snprintf(folder, sizeof(folder), "%s/", hand->site.tree));
    return is_below(path, folder);
}

/* Is it in the folder of the step in any hierarchy by which Slurm tracks processes or accounts for
 * them? Of version 2 there is one. */
static bool is_tracked(const struct hand_known *step, const char *text)
{
    static const char *const controller[] = {"freezer", "cpuacct", "memory", "devices"};
    char path[CGROUP_DIR_MAX];

    if (step_cgroup_path(text, NULL, step->id, path, sizeof(path)) == 0 &&
        strstr(path, "slurmstepd.scope/"))
        return true;
    for (size_t i = 0; i < sizeof(controller) / sizeof(controller[0]); i++)
        if (step_cgroup_path(text, controller[i], step->id, path, sizeof(path)) == 0 &&
            strncmp(path, "/slurm", 6) == 0)
            return true;
    return false;
}

static bool says_so(const struct hand *hand, const struct hand_known *step, const char *text)
{
    return is_in_folder(hand, step, text) || (!step->leaf[0] && is_tracked(step, text));
}

/* ---- by the folder's own list ---- */

static bool lists(const struct hand *hand, const char *dir, pid_t pid)
{
    char path[CGROUP_DIR_MAX + 16], *text, *end;
    bool found = false;

    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    text = rootfs_read(hand->site.root, path);
    for (char *at = text; at && !found; at = end) {
        long number = strtol(at, &end, 10);

        if (end == at)
            break;
        found = number == pid;
    }
    free(text);
    return found;
}

/* Where cgroups are mounted from another root than /proc tells paths from, in a container, the
 * folder itself says who is in it. */
static bool is_listed(const struct hand *hand, const struct hand_known *step, pid_t pid)
{
    char dir[CGROUP_DIR_MAX], task[CGROUP_DIR_MAX + 260], **name;
    bool found;

    if (hand_place_path(hand, step, HAND_OWN, NULL, dir) && lists(hand, dir, pid))
        return true;
    if (!hand_place_path(hand, step, hand->site.unified ? HAND_USER : HAND_LEAF, NULL, dir))
        return false;
    found = lists(hand, dir, pid);
    name = found ? NULL : rootfs_list_folders(hand->site.root, dir);
    for (size_t i = 0; !found && name && name[i]; i++) {
        snprintf(task, sizeof(task), "%s/%s", dir, name[i]);
        found = strncmp(name[i], "task_", 5) == 0 && strlen(task) < CGROUP_DIR_MAX &&
                lists(hand, task, pid);
    }
    rootfs_list_free(name);
    return found;
}

/* ---- by its forebears ---- */

static bool is_task(const struct hand_known *step, pid_t pid, uint64_t started)
{
    for (size_t i = 0; i < step->ntasks; i++)
        if (step->task[i].pid == pid &&
            (!step->task[i].started || process_same(step->task[i].started, started)))
            return true;
    return false;
}

static bool descends(const struct hand *hand, const struct hand_known *step, pid_t pid)
{
    struct process_look look;

    for (int i = 0; i < GENERATIONS_MAX && pid > 1; i++, pid = look.parent) {
        if (process_look(hand->site.root, pid, &look) < 0)
            return false;
        if (is_task(step, pid, look.started))
            return true;
    }
    return false;
}

/* ---- all of it ---- */

static bool is_stepd(const struct hand *hand, const struct hand_known *step, pid_t pid)
{
    return step->stepd && pid == step->stepd &&
           (!step->stepd_started || process_is(hand->site.root, pid, step->stepd_started));
}

/* The process of a thread whose process is not known; 0: it has gone. */
static pid_t process_of(const struct hand *hand, pid_t tid)
{
    char *text = NULL;
    const char *value = process_status_line(hand->site.root, tid, "\nTgid:\t", &text);
    pid_t pid = value ? (pid_t)strtol(value, NULL, 10) : 0;

    free(text);
    return pid;
}

/* Returns what the kernel says of a thread's cgroups, which the caller frees; NULL: the process has
 * no such thread. The main thread of a process may have ended, and is in no cgroup of it then. */
static char *cgroups_of(const struct hand *hand, pid_t tid, pid_t pid)
{
    char path[64];

    if (tid == pid)
        snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    else
        snprintf(path, sizeof(path), "/proc/%d/task/%d/cgroup", (int)pid, (int)tid);
    return rootfs_read(hand->site.root, path);
}

static bool is_exiting(const struct hand *hand, pid_t pid)
{
    struct process_look look;

    return process_look(hand->site.root, pid, &look) < 0 || look.exiting;
}

int hand_belongs(const struct hand *hand, const struct hand_known *step, pid_t tid, pid_t pid,
                 uint64_t started)
{
    char *text;
    bool is;

    if (tid <= 0 || pid < 0)
        return -1;
    if (pid == 0 && (pid = process_of(hand, tid)) == 0)
        return 0;
    if (started && !process_is(hand->site.root, pid, started))
        return 0;
    if (is_stepd(hand, step, pid))
        return -1;
    text = cgroups_of(hand, tid, pid);
    if (!text && (errno == ENOENT || errno == ESRCH) &&
        (tid != pid || rootfs_is_machine(hand->site.root)))
        return 0;
    is = text && says_so(hand, step, text);
    free(text);
    if (is || is_listed(hand, step, pid) || (!step->leaf[0] && descends(hand, step, pid)))
        return 1;
    return is_exiting(hand, pid) ? 0 : -1;
}

bool hand_is_tracked(const struct hand *hand, const struct hand_known *step, pid_t pid)
{
    char *text = cgroups_of(hand, pid, pid);
    bool is = text && is_tracked(step, text);

    free(text);
    return is;
}

const struct hand_known *hand_step_of(const struct hand *hand, pid_t pid)
{
    const struct hand_known *found = NULL;
    char *text = cgroups_of(hand, pid, pid);

    for (size_t i = 0; !found && text && i < hand->n; i++) {
        const struct hand_known *step = &hand->known[i];

        if (is_stepd(hand, step, pid))
            break;
        if (says_so(hand, step, text))
            found = step;
    }
    free(text);
    for (size_t i = 0; !found && i < hand->n; i++)
        if (hand_belongs(hand, &hand->known[i], pid, pid, 0) == 1)
            found = &hand->known[i];
    return found;
}
