/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_tree - the cgroups and /proc of a node as each series of Slurm makes them, in a folder.
 *
 * Folders are named and nested, and processes stand in them, as seen with Slurm 22.05.8, 24.11.5
 * and 26.05.5 and as their sources say (src/plugins/cgroup, task_cgroup_cpuset.c): the files are
 * plain ones. The node is called n1, and its cgroups are mounted at /cg. A test makes a struct
 * slurm_tree for each row of slurm_series. */
#ifndef BERTH_TESTS_SLURM_TREE_H
#define BERTH_TESTS_SLURM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/enforce/enforce.h"

struct slurm_series {
    const char *name;
    bool unified;    /* cgroup v2 */
    const char *top; /* what jobs are in, below the cgroups' root (v1: that of cpusets) */
    bool sluid;      /* a job's folder has no number */
    bool task_dirs;  /* there is a folder for each task */
    bool global;     /* which is numbered by the task's number in the whole step */
};

extern const struct slurm_series slurm_series[];
extern const size_t slurm_series_n;

struct slurm_tree {
    const struct slurm_series *series;
    char dir[64];
    struct rootfs root;
    struct enforce enforce; /* by the way that the series has */
};

void slurm_tree_open(struct slurm_tree *tree, const struct slurm_series *series);
void slurm_tree_close(struct slurm_tree *tree);

/* Writes the path of a job's folder, or of a step's, below the root that leafs are told from
 * (struct enforce_step). */
void slurm_tree_path(const struct slurm_tree *tree, struct wire_step_id id, char *path,
                     size_t size);

/* Makes the folder of a job that has these CPUs ("": Slurm confines nobody). */
void slurm_tree_job(const struct slurm_tree *tree, uint32_t job, const char *cpus);

/* Makes the folder of a step that has these CPUs, in which its slurmstepd is; 0: it was killed. */
void slurm_tree_step(const struct slurm_tree *tree, struct wire_step_id id, const char *cpus,
                     pid_t stepd);

/* A process; `inner`: its number in a PID namespace of its own, or 0. */
struct slurm_tree_task {
    pid_t pid, parent, inner;
    unsigned local, global; /* its number in the step: on this node, and on all of them */
    const char *name;
};

/* Puts a task, which is no root's, into its step's folder. */
void slurm_tree_task(const struct slurm_tree *tree, struct wire_step_id id,
                     const struct slurm_tree_task *task);

/* Makes the step, with its tasks, as ConstrainCores=no has it. */
void slurm_tree_unconfine(const struct slurm_tree *tree, struct wire_step_id id);

/* Puts a process of root's into no cgroup of Slurm's. */
void slurm_tree_stranger(const struct slurm_tree *tree, pid_t pid, pid_t parent, const char *name);

/* Reads a file of the job's folder or of a step's, "" where there is none: `below` is "/FILE" or
 * "/user/FILE". */
void slurm_tree_read(const struct slurm_tree *tree, struct wire_step_id id, const char *below,
                     char *text, size_t size);

/* Kills the slurmstepd of a step: its tasks run on. */
void slurm_tree_kill(const struct slurm_tree *tree, struct wire_step_id id);

/* Ends all processes of a job, and leaves its folders. */
void slurm_tree_end(const struct slurm_tree *tree, uint32_t job);

#endif
