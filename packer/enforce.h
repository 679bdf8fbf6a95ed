/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enforce - making a placement hold: one vtable, several ways, chosen at start and shown by `berthctl doctor`.
 *
 *   cgroup1  Slurm's leaf where the CPUs lie inside the job's allocation, berth's own cpuset tree where not (Slurm's
 *            job-level cpusets are never written: a later step would fail to launch)
 *   cgroup2  job and step widened to the pool, leaves pinned
 *   dryrun   nothing is touched; for `observe` nodes and tests
 *
 * The registry decides and journals; a way only does, reads back and reports. */
#ifndef BERTH_ENFORCE_H
#define BERTH_ENFORCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cpus.h"
#include "error.h"
#include "rootfs.h"
#include "wire.h"

/* One task of a step: its first process (children are found through the cgroup). */
struct enforce_task {
    pid_t pid;
    struct cpus home; /* where Slurm put it: affinity within the step's cpuset at registration */
    struct cpus cpus; /* where it shall run */
};

/* One step as a way sees it. */
struct enforce_step {
    struct wire_step_id id;
    uint32_t uid;
    char leaf[512];        /* the step's cpuset directory below the cpuset root (Slurm's), found by locate(); "" none (ConstrainCores=no) */
    struct cpus job_home;  /* CPUs of Slurm's allocation of the job here */
    struct cpus step_home; /* CPUs of Slurm's step cpuset as it was at registration */
    struct cpus mems_home;
    size_t ntasks;
    struct enforce_task *task; /* [ntasks] */
};

struct enforce;

struct enforce_way {
    const char *name; /* "cgroup1", ... */

    /* Is this way usable on this node? 1 yes, 0 no (err says why). */
    int (*probe)(const struct rootfs *root, const char *cgroup_root, struct berth_error *err);

    /* Find the step's cgroup and read leaf, job_home, step_home, mems_home and each task's home. 0, or -1 and err (e.g. the step is gone). */
    int (*locate)(struct enforce *enforce, const char *node, struct enforce_step *step, struct berth_error *err);

    /* Make every thread of every process of the step stand where step->task[].cpus says (children follow the task they descend from;
     * a process that cannot be told apart gets the union), loop until stable, then read back effective cpuset and Cpus_allowed
     * of every thread. 0, or -1 and err with what could not be verified; the caller then asks for restore. */
    int (*apply)(struct enforce *enforce, const struct enforce_step *step, struct berth_error *err);

    /* Back to Slurm's: leaf, cpuset and affinity as at registration; berth's own cgroup of the step removed. A vanished step is success. */
    int (*restore)(struct enforce *enforce, const struct enforce_step *step, struct berth_error *err);

    /* Remove berth's cgroups that belong to no step of `known` (after a crash), moving stray tasks home to Slurm's leaf or its nearest living parent. */
    int (*clean)(struct enforce *enforce, const struct wire_step_id *known, size_t n, struct berth_error *err);
};

struct enforce {
    const struct enforce_way *way;
    const struct rootfs *root;
    char cgroup_root[256]; /* e.g. "/sys/fs/cgroup" */
};

extern const struct enforce_way enforce_cgroup1, enforce_cgroup2, enforce_dryrun;

/* Choose a way: name NULL or "auto" takes the first usable of cgroup2, cgroup1; else the one named. 0, or -1 and err with why none fits. */
int enforce_open(struct enforce *enforce, const struct rootfs *root, const char *cgroup_root, const char *name, struct berth_error *err);

/* Is any process of the step alive? (its cgroup's procs, else its tasks' pids) */
bool enforce_step_alive(struct enforce *enforce, const struct enforce_step *step);

/* Helpers shared by the ways (enforce_tasks.c): affinity of every thread of a process, verified. */
int enforce_set_affinity(const struct rootfs *root, pid_t pid, const struct cpus *cpus, struct berth_error *err);
int enforce_get_affinity(pid_t pid, struct cpus *cpus);

#endif
