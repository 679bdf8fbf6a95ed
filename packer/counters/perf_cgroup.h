/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_cgroup - the cgroup of a step by which the kernel can count its events.
 *
 * That is one of the hierarchy which perf_event belongs to. Where Slurm keeps its steps there (the
 * unified hierarchy, with cgroup/v2), Slurm's own cgroup of the step is used and nobody is moved.
 * Elsewhere (cgroup/v1, whose perf_event hierarchy Slurm does not use, or no cgroups of Slurm's at
 * all) the step's processes are put into a cgroup of berth's, TREE/JOB.STEP. Slurm finds, freezes
 * and kills processes by other hierarchies, or by their descent: neither changes by that. */
#ifndef BERTH_COUNTERS_PERF_CGROUP_H
#define BERTH_COUNTERS_PERF_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/base/error.h"
#include "packer/enforce/enforce.h"
#include "packer/system/rootfs.h"

#define PERF_CGROUP_MAX 768 /* bytes of a path */

/* Where perf_event's hierarchy is, from /proc/self/mounts. */
struct perf_hierarchy {
    char mount[256];
    bool unified; /* version 2, where perf_event is always on */
};

/* The cgroup of a step. */
struct perf_cgroup {
    char dir[PERF_CGROUP_MAX];
    char origin[PERF_CGROUP_MAX]; /* own: where its processes came from */
    bool own;                     /* berth's: to be removed */
};

/* Find the hierarchy. 0, or -1 and err: there is none, or a version 1 mount shares it with
 * controllers that Slurm places its steps by. */
int perf_hierarchy_find(struct perf_hierarchy *hierarchy, const struct rootfs *root,
                        struct berth_error *err);

/* The folder of berth's cgroups, made and opened, to see whether events can be counted there. The
 * descriptor, or -1 and err. */
int perf_tree_open(const struct perf_hierarchy *hierarchy, const struct enforce *enforce,
                   struct berth_error *err);
void perf_tree_close(const struct perf_hierarchy *hierarchy, const struct enforce *enforce, int fd);

/* Of version 2, the kernel begins to make perf_event's part of new cgroups when a controller has
 * been given to the root's children once (systemd does that). True where this was done now, with
 * one that does nothing by itself: it is taken back at once. */
bool perf_hierarchy_wake(const struct perf_hierarchy *hierarchy, const struct rootfs *root);

/* Find the step's cgroup, or make it and put the step's processes into it, if these are not too
 * many to be moved in one go: so many were found just now (0: it is not known). 0, or -1 and err:
 * nothing is left of it then. */
int perf_cgroup_enter(struct perf_cgroup *cgroup, const struct perf_hierarchy *hierarchy,
                      struct enforce *enforce, const struct enforce_step *step, size_t processes,
                      struct berth_error *err);

/* Remove it, if it is berth's; who is still in it goes back to where he came from. False while it
 * is busy with processes that exit: perf_cgroup_remove is to be tried later. */
bool perf_cgroup_leave(const struct perf_cgroup *cgroup, const struct perf_hierarchy *hierarchy,
                       const struct rootfs *root);

/* Remove berth's cgroup of a step that is over; a missing one is fine. False while it is busy. */
bool perf_cgroup_remove(const struct perf_hierarchy *hierarchy, const struct enforce *enforce,
                        struct wire_step_id id);

/* Remove berth's cgroups of steps that are not in known[n]. */
void perf_cgroup_sweep(const struct perf_hierarchy *hierarchy, const struct enforce *enforce,
                       const struct wire_step_id *known, size_t n);

#endif
