/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list - the lists of cpusets: CPUs, memory nodes, and what is noted of them.
 *
 * A list may always lose CPUs, but not all of them. What it gains has to be Slurm's for a job that
 * root has registered: the step's own, or another one's. Under version 1 no list of a job is
 * written, and the kernel keeps a step's within it; under version 2 the kernel keeps a list within
 * that of its parent, and `user` may have all that its step has. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "packer/base/file.h"
#include "packer/hand/hand_impl.h"

/* ---- which CPUs ---- */

/* Are they all that the step's folder has (v2)? That is what `user` and what is below it get back
 * where Slurm confines nobody. */
static bool are_folders(struct hand_asked *asked, enum hand_place place, const struct cpus *cpus)
{
    char dir[CGROUP_DIR_MAX];
    struct cpus all;

    return (place == HAND_USER || place == HAND_TASK) && asked->hand->site.unified &&
           hand_place_path(asked->hand, asked->step, HAND_LEAF, NULL, dir) &&
           hand_read_cpus(asked->hand, dir, "cpuset.cpus.effective", &all, NULL) == 0 &&
           cpus_equal(cpus, &all);
}

/* 0: the list of this folder may become that. */
static int check_cpus(struct hand_asked *asked, const char *dir, const struct hand_list *list)
{
    const struct hand *hand = asked->hand;
    struct cpus now, more = list->cpus;
    char text[CPUS_TEXT_MAX] = "?";

    if (cpus_empty(&list->cpus)) /* v2: that would be all that its parent has */
        return hand_refuse(asked, "step %u.%u: an empty list", asked->message->id.job,
                           asked->message->id.step);
    if (hand_read_cpus(hand, dir, "cpuset.cpus", &now, &asked->answer->why) < 0)
        return -1;
    cpus_andnot(&more, &now);
    cpus_andnot(&more, &hand->pool);
    if (cpus_empty(&more) || are_folders(asked, list->place, &list->cpus) ||
        (hand->idle && hand_are_nobodys(hand, &more)))
        return 0;
    cpus_format(&more, text, sizeof(text));
    return hand_refuse(asked, "step %u.%u: CPUs %.200s are of no job that root has registered",
                       asked->message->id.job, asked->message->id.step, text);
}

/* ---- berth's own folders (v1): what their parents have ---- */

/* 0: the list is what the hand reads in that folder. */
static int check_same(struct hand_asked *asked, const char *dir, const char *file,
                      const struct cpus *cpus)
{
    struct cpus now;

    if (hand_read_cpus(asked->hand, dir, file, &now, &asked->answer->why) < 0)
        return -1;
    return cpus_equal(cpus, &now) ? 0 : hand_refuse(asked, "%s/%s has another list", dir, file);
}

static int check_tree(struct hand_asked *asked, const struct hand_list *list)
{
    char top[CGROUP_DIR_MAX];

    snprintf(top, sizeof(top), "%s/cpuset", asked->hand->site.cgroup_root);
    return check_same(asked, top, list->mems ? "cpuset.mems" : "cpuset.cpus", &list->cpus);
}

/* Pages stay where they are: a step's memory nodes are Slurm's. */
static int check_mems(struct hand_asked *asked, const struct hand_list *list)
{
    char dir[CGROUP_DIR_MAX];

    if (list->place != HAND_OWN)
        return hand_refuse(asked, "memory nodes are Slurm's");
    if (!hand_place_path(asked->hand, asked->step, HAND_LEAF, NULL, dir))
        snprintf(dir, sizeof(dir), "%s/cpuset", asked->hand->site.cgroup_root);
    return check_same(asked, dir, "cpuset.mems", &list->cpus);
}

int hand_do_list(struct hand_asked *asked)
{
    const struct hand_list *list = &asked->message->list;
    char dir[CGROUP_DIR_MAX];
    int rc;

    if (list->place >= HAND_PLACES || list->mems > 1 ||
        !hand_place_path(asked->hand, asked->step, (enum hand_place)list->place, list->task, dir))
        return hand_refuse(asked, "step %u.%u: it has no such folder", asked->message->id.job,
                           asked->message->id.step);
    rc = list->place == HAND_TREE ? check_tree(asked, list)
         : list->mems             ? check_mems(asked, list)
                                  : check_cpus(asked, dir, list);
    return rc < 0 ? -1
                  : hand_write_cpus(asked->hand, dir, list->mems ? "cpuset.mems" : "cpuset.cpus",
                                    &list->cpus, &asked->answer->why);
}

/* ---- folders ---- */

/* A step that is not known any more has nothing but an empty folder to be removed. */
int hand_do_folder(struct hand_asked *asked)
{
    const struct hand_folder *folder = &asked->message->folder;
    const struct hand *hand = asked->hand;
    struct berth_error *why = &asked->answer->why;
    char dir[CGROUP_DIR_MAX];

    if ((folder->place != HAND_OWN && folder->place != HAND_TREE) || hand->site.unified)
        return hand_refuse(asked, "folder: it is none of berth's own");
    if (folder->make > 1 || (folder->make && folder->place == HAND_OWN && !asked->step))
        return hand_refuse(asked, "folder: step %u.%u: root has not registered it",
                           asked->message->id.job, asked->message->id.step);
    if (folder->place == HAND_TREE)
        hand_place_path(hand, NULL, HAND_TREE, NULL, dir);
    else
        hand_own_path(hand, asked->message->id, dir);
    return folder->make ? rootfs_mkdir(hand->site.root, dir, why)
                        : rootfs_rmdir(hand->site.root, dir, why);
}

/* ---- notes ---- */

/* What is noted is given back later, as far as the job has it then. */
static int check_mark(struct hand_asked *asked, enum hand_place place)
{
    const struct cpus *cpus = &asked->message->mark.cpus;

    if (asked->message->mark.put > 1)
        return hand_refuse(asked, "mark: there is no such");
    if (!asked->message->mark.put || cpus_subset(cpus, &asked->step->job_home) ||
        are_folders(asked, place, cpus))
        return 0;
    return hand_refuse(asked, "mark: step %u.%u: its job has not these CPUs", asked->step->id.job,
                       asked->step->id.step);
}

/* A kernel without such attributes has none, and that is no failure: the journal knows. */
int hand_do_mark(struct hand_asked *asked)
{
    const struct hand *hand = asked->hand;
    enum hand_place place = hand->site.unified ? HAND_USER : HAND_LEAF;
    char dir[CGROUP_DIR_MAX], name[96], text[CPUS_TEXT_MAX];
    int fd;

    if (!hand_place_path(hand, asked->step, place, NULL, dir))
        return hand_refuse(asked, "mark: step %u.%u has no folder", asked->step->id.job,
                           asked->step->id.step);
    if (check_mark(asked, place) < 0)
        return -1;
    fd = rootfs_openat(hand->site.root, dir, O_RDONLY | O_DIRECTORY);
    snprintf(name, sizeof(name), "user.berth.%s", hand->site.tree);
    if (fd >= 0 && !asked->message->mark.put)
        fremovexattr(fd, name);
    else if (fd >= 0 && cpus_format(&asked->message->mark.cpus, text, sizeof(text)) == 0)
        fsetxattr(fd, name, text, strlen(text), XATTR_CREATE);
    file_close(fd);
    return 0;
}
