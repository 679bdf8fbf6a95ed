/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resctrl_group - a step's monitoring group in the kernel's resctrl file system
 * (Documentation/filesystems/resctrl.rst).
 *
 * It is called TREE-JOB.STEP and lies in the control group that the step's tasks are in: a task can
 * be monitored in its own control group only. Children inherit the group. */
#ifndef BERTH_COUNTERS_RESCTRL_GROUP_H
#define BERTH_COUNTERS_RESCTRL_GROUP_H

#include "packer/enforce/enforce.h"

#define RESCTRL "/sys/fs/resctrl"
#define RESCTRL_L3_MON RESCTRL "/info/L3_MON"
#define RESCTRL_NAME_MAX 256

struct resctrl_group {
    char name[RESCTRL_NAME_MAX];
    char dir[CGROUP_DIR_MAX]; /* its folder */
};

/* Make the step's group, empty, or take the one that a berthd before this one has made. 0; or -1
 * and err: no RMID is free, or somebody else monitors the step. */
int resctrl_group_make(struct resctrl_group *group, const struct enforce *enforce,
                       const struct enforce_step *step, struct berth_error *err);

/* Move all threads of the step into it. 0, or -1 and err. */
int resctrl_group_fill(const struct resctrl_group *group, struct enforce *enforce,
                       const struct enforce_step *step, struct berth_error *err);

/* Is the step's first task in it still? 0 (also where that cannot be known), or -1 and err. */
int resctrl_group_check(const struct resctrl_group *group, struct enforce *enforce,
                        const struct enforce_step *step, struct berth_error *err);

/* Remove it; its tasks are in their control group only then. */
void resctrl_group_remove(const struct resctrl_group *group, const struct enforce *enforce);

/* Remove the groups of this tree whose step is not in known[n]. */
void resctrl_group_sweep(const struct enforce *enforce, const struct wire_step_id *known, size_t n);

/* Is the word a line of the text? */
bool resctrl_has_line(const char *text, const char *word);

/* How many RMIDs there are, as text; "?" unknown. */
void resctrl_rmids(const struct rootfs *root, char text[32]);

#endif
