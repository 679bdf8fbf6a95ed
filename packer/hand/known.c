/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known - the steps that root's plugin has registered, and the CPUs of their jobs.
 *
 * Where a step's folder is said to be, the name of it has to be what Slurm would call it, with that
 * job, step and user; nobody but root makes such folders there. What its job's list has is read
 * anew: under version 1 berth never changes it, under version 2 berth widens it by CPUs of other
 * registered jobs only. What the list does not have is not believed, but of CPUs that are off,
 * which no list has; and of a step whose folder has gone nothing is. A step without a folder
 * (ConstrainCores=no) is as root's plugin says; where berthd is not root's, its tasks have to be in
 * a cgroup by which Slurm tracks that step. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/hand/hand_impl.h"
#include "packer/system/process_look.h"

#define SCOPE "slurmstepd.scope"
#define FOLDERS_DEEP 8 /* slices in slices */

static struct hand_known *find_step(const struct hand *hand, struct wire_step_id id)
{
    for (size_t i = 0; i < hand->n; i++)
        if (hand->known[i].id.job == id.job && hand->known[i].id.step == id.step)
            return &hand->known[i];
    return NULL;
}

const struct hand_known *hand_find(const struct hand *hand, struct wire_step_id id)
{
    return find_step(hand, id);
}

static void sum_up(struct hand *hand)
{
    cpus_zero(&hand->pool);
    for (size_t i = 0; i < hand->n; i++)
        cpus_or(&hand->pool, &hand->known[i].job_home);
}

/* ---- Slurm's folders ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), of_end = strlen(end);

    return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

/* Under version 1: slurm/uid_U/job_J/step_S, or slurm_NODE/... */
static bool is_leaf1(const struct hand_message *message, const char *leaf)
{
    char name[STEP_CGROUP_NAME_MAX], below[STEP_CGROUP_NAME_MAX + 32];
    const char *slash = strchr(leaf, '/');

    step_cgroup_name(message->id, name);
    snprintf(below, sizeof(below), "/uid_%u/%s", message->step.uid, name);
    return slash && strcmp(slash, below) == 0 && strncmp(leaf, "slurm", 5) == 0 &&
           (leaf[5] == '/' || leaf[5] == '_');
}

/* Under version 2: ....slice/..._slurmstepd.scope/job_J/step_S, or with a SLUID. */
static bool is_leaf2(const struct hand_message *message, const char *leaf)
{
    char path[HAND_LEAF_MAX + 1], above[HAND_LEAF_MAX];
    const char *end;

    snprintf(path, sizeof(path), "/%s", leaf);
    end = step_cgroup_find(path, message->id);
    if (!end || *end)
        return false;
    snprintf(above, sizeof(above), "%s", leaf);
    *strrchr(above, '/') = '\0';
    if (!strrchr(above, '/'))
        return false;
    *strrchr(above, '/') = '\0';
    if (!ends_with(above, SCOPE) || strstr(above, ".."))
        return false;
    for (char *part = above, *next; (next = strchr(part, '/')); part = next + 1) {
        *next = '\0';
        if (!ends_with(part, ".slice"))
            return false;
    }
    return true;
}

static int check_leaf(struct hand_asked *asked)
{
    const char *leaf = asked->message->step.leaf;

    if (memchr(leaf, '\0', HAND_LEAF_MAX) &&
        (asked->hand->site.unified ? is_leaf2 : is_leaf1)(asked->message, leaf))
        return 0;
    return hand_refuse(asked, "step %u.%u: this is not how Slurm names its folder: %.200s",
                       asked->message->id.job, asked->message->id.step, leaf);
}

/* Takes the CPUs that are said to be its job's, as far as they are. 0, or -1 with errno. */
static int check_home(struct hand_asked *asked, struct hand_known *fresh)
{
    const struct hand *hand = asked->hand;
    char dir[CGROUP_DIR_MAX];
    struct cpus now, off = fresh->job_home, online;

    if (!hand_place_path(hand, fresh, HAND_LEAF, NULL, dir) ||
        !rootfs_exists(hand->site.root, dir)) {
        cpus_zero(&fresh->job_home);
        return 0;
    }
    *strrchr(dir, '/') = '\0';
    if (hand_read_cpus(hand, dir, "cpuset.cpus", &now, &asked->answer->why) < 0)
        return -1;
    if (cpus_empty(&now)) /* v2: the list is its parent's */
        return 0;
    if (rootfs_read_cpus(hand->site.root, "/sys/devices/system/cpu/online", &online, NULL) == 0) {
        cpus_andnot(&off, &online);
        cpus_or(&now, &off);
    }
    cpus_and(&fresh->job_home, &now);
    return 0;
}

/* ---- the messages ---- */

static void forget(struct hand *hand, struct hand_known *known)
{
    free(known->task);
    *known = hand->known[--hand->n];
    sum_up(hand);
}

/* Where the head is a process of its own, and says what root's plugin has said, the kernel has to
 * say the same of a task: that Slurm tracks it as one of the step. 1; 0: it has gone; or -1. */
static int is_true(struct hand_asked *asked, const struct hand_known *step, pid_t pid)
{
    if (!asked->hand->site.head || hand_is_tracked(asked->hand, step, pid))
        return 1;
    if (!process_started(asked->hand->site.root, pid))
        return 0;
    return hand_refuse(asked, "step %u.%u: process %d is in no cgroup that Slurm has made of it",
                       step->id.job, step->id.step, (int)pid);
}

/* Adds the tasks that the message names. 0, or -1 with errno and why. */
static int add_tasks(struct hand_asked *asked, struct hand_known *known)
{
    const struct hand_message *message = asked->message;

    if (message->n > 0 && array_grow(&known->task, &known->room, known->ntasks + message->n,
                                     sizeof(*known->task)) < 0)
        return berth_no_memory(&asked->answer->why);
    known->said += message->n;
    for (uint32_t i = 0; i < message->n; i++) {
        int is = is_true(asked, known, message->step.task[i].pid);

        if (is < 0)
            return -1;
        if (is)
            known->task[known->ntasks++] = message->step.task[i];
    }
    return 0;
}

/* Is it the second part of what was said of a step without a folder? */
static bool goes_on(const struct hand_known *known, const struct hand_message *message)
{
    return known && message->step.leaf[0] == '\0' && known->leaf[0] == '\0' &&
           known->uid == message->step.uid &&
           cpus_equal(&known->job_home, &message->step.job_home) &&
           known->said >= HAND_THREADS_MAX && known->said % HAND_THREADS_MAX == 0;
}

int hand_do_step(struct hand_asked *asked)
{
    const struct hand_message *message = asked->message;
    struct hand *hand = asked->hand;
    struct hand_known *known = find_step(hand, message->id),
                      fresh = {.id = message->id,
                               .uid = message->step.uid,
                               .stepd = message->step.stepd,
                               .stepd_started = message->step.stepd_started,
                               .job_home = message->step.job_home};

    if (message->id.job == 0)
        return hand_refuse(asked, "step: there is no job 0");
    if (goes_on(known, message))
        return add_tasks(asked, known);
    memcpy(fresh.leaf, message->step.leaf, sizeof(fresh.leaf));
    if (fresh.leaf[0] && (check_leaf(asked) < 0 || check_home(asked, &fresh) < 0))
        return -1;
    if (add_tasks(asked, &fresh) < 0) {
        free(fresh.task);
        return -1;
    }
    if (array_grow(&hand->known, &hand->room, hand->n + 1, sizeof(fresh)) < 0) {
        free(fresh.task);
        return berth_no_memory(&asked->answer->why);
    }
    known = find_step(hand, message->id);
    if (known)
        forget(hand, known);
    hand->known[hand->n++] = fresh;
    sum_up(hand);
    return 0;
}

int hand_do_forget(struct hand_asked *asked)
{
    struct hand_known *known = find_step(asked->hand, asked->message->id);

    if (known)
        forget(asked->hand, known);
    return 0;
}

/* ---- what Slurm has given to nobody ---- */

struct walk {
    const struct hand *hand;
    size_t depth;
    struct cpus *taken;
    bool unconfined; /* a job may run anywhere */
};

/* Has root registered a step of the job whose folder this is? */
static bool is_registered(const struct hand *hand, const char *dir)
{
    for (size_t i = 0; i < hand->n; i++) {
        char path[CGROUP_DIR_MAX];

        if (!hand_place_path(hand, &hand->known[i], HAND_LEAF, NULL, path))
            continue;
        *strrchr(path, '/') = '\0';
        if (strcmp(path, dir) == 0)
            return true;
    }
    return false;
}

static void take_job(struct walk *walk, const char *dir)
{
    struct cpus cpus;

    if (is_registered(walk->hand, dir) ||
        hand_read_cpus(walk->hand, dir, "cpuset.cpus", &cpus, NULL) < 0)
        return;
    cpus_or(walk->taken, &cpus);
    walk->unconfined |= walk->hand->site.unified && cpus_empty(&cpus);
}

/* Looks for folders of jobs in this one: in Slurm's own trees, or, under version 2, in slices. */
static void walk_folder(struct walk *walk, const char *dir)
{
    char **name = rootfs_list_folders(walk->hand->site.root, dir), path[CGROUP_DIR_MAX];

    walk->depth++;
    for (size_t i = 0; name && name[i]; i++) {
        bool job = strncmp(name[i], "job_", 4) == 0 || step_cgroup_is_sluid(name[i]);
        bool above = strncmp(name[i], "slurm", 5) == 0 || strncmp(name[i], "uid_", 4) == 0 ||
                     ends_with(name[i], ".slice") || ends_with(name[i], SCOPE);

        if (!(job || above) || walk->depth > FOLDERS_DEEP ||
            (size_t)snprintf(path, sizeof(path), "%s/%s", dir, name[i]) >= sizeof(path))
            continue;
        job ? take_job(walk, path) : walk_folder(walk, path);
    }
    walk->depth--;
    rootfs_list_free(name);
}

bool hand_are_nobodys(const struct hand *hand, const struct cpus *cpus)
{
    char top[CGROUP_DIR_MAX];
    struct cpus taken;
    struct walk walk = {.hand = hand, .taken = &taken};

    cpus_zero(&taken);
    snprintf(top, sizeof(top), "%s%s", hand->site.cgroup_root, hand->site.unified ? "" : "/cpuset");
    for (size_t i = 0; i < hand->n; i++)
        walk.unconfined |= !hand->known[i].leaf[0];
    walk_folder(&walk, top);
    return !walk.unconfined && !cpus_intersect(cpus, &taken);
}
