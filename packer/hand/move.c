/* SPDX-License-Identifier: GPL-2.0-or-later */
/* move - processes change between berth's own cpuset of their step and Slurm's (v1); and those of a
 * step that nobody knows go back.
 *
 * A kernel before 6.2 locks the memory map of who is moved, with all cgroups of the node locked: a
 * process that may hold its map for ever is not moved, whoever asks. A process that is moved may
 * fork meanwhile, and its child inherits where it was: whoever asks looks again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/hand/hand_impl.h"
#include "packer/system/process_look.h"
#include "packer/system/process_waiting.h"

#define ROUNDS 20 /* in which a cpuset is emptied */

static int may_move(const struct hand *hand, pid_t pid, struct berth_error *err)
{
    if (!hand->site.rebinds || !process_waiting(hand->site.root, pid))
        return 0;
    errno = EBUSY;
    return berth_error_set(err,
                           "process %d waits in the kernel: to move it between cpusets could stop "
                           "the node, by a kernel before 6.2",
                           (int)pid);
}

/* One process of the message. 1, 0 it has gone, or -1 with errno. */
static int move_one(struct hand_asked *asked, const struct hand_task *process, const char *dir)
{
    struct berth_error *why = &asked->answer->why;
    int is = hand_belongs(asked->hand, asked->step, process->pid, process->pid, process->started);

    if (is < 0)
        return hand_refuse(asked, "move: process %d is none of step %u.%u", (int)process->pid,
                           asked->step->id.job, asked->step->id.step);
    if (is == 0)
        return 0;
    return may_move(asked->hand, process->pid, why) < 0
               ? -1
               : hand_move_process(asked->hand, process->pid, dir, why);
}

/* Where it goes; the root of the hierarchy, for who was in no cpuset, or in one that is no more. */
static bool where_to(struct hand_asked *asked, char dir[CGROUP_DIR_MAX])
{
    const struct hand *hand = asked->hand;

    if (asked->message->move.place == HAND_OWN)
        return hand_place_path(hand, asked->step, HAND_OWN, NULL, dir);
    if (asked->message->move.place != HAND_LEAF || hand->site.unified)
        return false;
    if (!hand_place_path(hand, asked->step, HAND_LEAF, NULL, dir))
        snprintf(dir, CGROUP_DIR_MAX, "%s/cpuset", hand->site.cgroup_root);
    hand_nearest_living(hand, dir);
    return true;
}

int hand_do_move(struct hand_asked *asked)
{
    char dir[CGROUP_DIR_MAX];
    int moved = 0;

    if (!where_to(asked, dir))
        return hand_refuse(asked, "move: step %u.%u: it has no such folder", asked->step->id.job,
                           asked->step->id.step);
    for (uint32_t i = 0; i < asked->message->n; i++) {
        moved = move_one(asked, &asked->message->move.process[i], dir);
        if (moved < 0)
            return -1;
        asked->answer->status[asked->answer->n++] = moved;
    }
    return 0;
}

/* ---- what a crash left ---- */

/* Slurm's leaf of a step of which nothing but the name is known; else the root of the hierarchy. */
static void search_leaf(const struct hand *hand, struct wire_step_id id, char dir[CGROUP_DIR_MAX])
{
    char top[CGROUP_DIR_MAX - 512], path[CGROUP_DIR_MAX], name[STEP_CGROUP_NAME_MAX];
    char **tree, **user;

    step_cgroup_name(id, name);
    snprintf(top, sizeof(top), "%s/cpuset", hand->site.cgroup_root);
    strcpy(dir, top);
    tree = rootfs_list_folders(hand->site.root, top);
    for (size_t i = 0; tree && tree[i]; i++) {
        if (strncmp(tree[i], "slurm", 5) != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", top, tree[i]);
        user = rootfs_list_folders(hand->site.root, path);
        for (size_t j = 0; user && user[j]; j++) {
            if (strncmp(user[j], "uid_", 4) != 0 ||
                (size_t)snprintf(path, sizeof(path), "%s/%s/%s/%s", top, tree[i], user[j], name) >=
                    sizeof(path) ||
                !rootfs_exists(hand->site.root, path))
                continue;
            strcpy(dir, path);
        }
        rootfs_list_free(user);
    }
    rootfs_list_free(tree);
}

/* All threads of a process, until nobody is left who has other CPUs; new ones inherit them. */
static int give_all(const struct hand *hand, pid_t pid, const struct cpus *cpus,
                    struct berth_error *err)
{
    char path[64], **thread;
    int set = 1;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(hand->site.root, path);
    for (size_t i = 0; set >= 0 && thread && thread[i]; i++)
        set = hand_set_affinity((pid_t)strtol(thread[i], NULL, 10), cpus);
    rootfs_list_free(thread);
    errno = set < 0 ? -set : errno;
    return set < 0 ? berth_error_set(err, "process %d: cannot set its affinity: %s", (int)pid,
                                     strerror(errno))
                   : 0;
}

/* Moves and frees one process, if it can be. 1: it was alive; 0: it has gone, or runs only to exit;
 * -1 and err. */
static int bring_back(const struct hand *hand, pid_t pid, const char *dir, const struct cpus *cpus,
                      struct berth_error *err)
{
    struct process_look look;
    int moved = may_move(hand, pid, err) < 0 ? -1 : hand_move_process(hand, pid, dir, err);

    if (process_look(hand->site.root, pid, &look) < 0 || look.exiting)
        return 0;
    if (moved < 0)
        return -1;
    return moved > 0 && give_all(hand, pid, cpus, err) < 0 ? -1 : moved;
}

/* One round through those that are in berth's own. Returns how many were alive, or -1 and err. */
static long empty_once(const struct hand *hand, const char *own, const char *dir,
                       const struct cpus *cpus, struct berth_error *err)
{
    char path[CGROUP_DIR_MAX + 16], *text, *end;
    long alive = 0, pid;

    snprintf(path, sizeof(path), "%s/cgroup.procs", own);
    text = rootfs_read(hand->site.root, path);
    for (char *at = text; at && alive >= 0; at = end) {
        pid = strtol(at, &end, 10);
        if (end == at)
            break;
        int rc = bring_back(hand, (pid_t)pid, dir, cpus, err);

        alive = rc < 0 ? -1 : alive + rc;
    }
    free(text);
    return alive;
}

/* Removes a cpuset in which nobody is but who is exiting: the kernel moves such a one no more, and
 * keeps the cpuset until he has gone. One that takes longer is left to the next clean. 0, or -1. */
static int remove_empty(const struct hand *hand, const char *own, struct berth_error *err)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    int rc = rootfs_rmdir(hand->site.root, own, err);

    for (int round = 0; rc < 0 && errno == EBUSY && round < ROUNDS; round++) {
        nanosleep(&pause, NULL);
        rc = rootfs_rmdir(hand->site.root, own, err);
    }
    return rc == 0 || errno == EBUSY ? 0 : -1;
}

/* They get all CPUs of where they go: their homes are not known. Before that the cpuset, if it can
 * have them, which takes all off the CPUs that they have to vacate at once. */
int hand_do_clean(struct hand_asked *asked)
{
    const struct hand *hand = asked->hand;
    struct wire_step_id id = asked->message->id;
    struct berth_error *why = &asked->answer->why;
    char own[CGROUP_DIR_MAX], dir[CGROUP_DIR_MAX];
    struct cpus cpus;
    long alive = 1;

    if (hand->site.unified) /* who is registered may go home as well: root has released it, say */
        return hand_refuse(asked, "clean: step %u.%u has not been left behind", id.job, id.step);
    hand_own_path(hand, id, own);
    search_leaf(hand, id, dir);
    hand_nearest_living(hand, dir);
    if (hand_read_cpus(hand, dir, "cpuset.cpus", &cpus, why) < 0)
        return -1;
    hand_write_cpus(hand, own, "cpuset.cpus", &cpus, NULL);
    for (int round = 0; alive > 0 && round < ROUNDS; round++)
        alive = empty_once(hand, own, dir, &cpus, why);
    if (alive > 0)
        return berth_error_set(why, "%s: processes appear faster than they can be moved there",
                               dir);
    if (alive < 0)
        return -1;
    return remove_empty(hand, own, why);
}
