/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_jobs - what Slurm's own folders of cpusets say: which jobs there are on the node, which
 * steps they have, and whether anybody runs below them.
 *
 * It is read and not remembered: a step whose registration was never heard has a folder all the
 * same, and one that Slurm left behind, when a slurmstepd was killed, has no process below it. */
#ifndef BERTH_SLURM_SLURM_JOBS_H
#define BERTH_SLURM_SLURM_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/base/cpus.h"
#include "packer/system/rootfs.h"
#include "packer/slurm/slurm_folders.h"
#include "packer/slurm/step_cgroup.h"
#include "packer/wire/wire.h"

/* A job's folder. */
struct slurm_job {
    uint32_t job; /* SLURM_FOLDERS_UNKNOWN and above: nobody tells (slurm_folders.h) */
    bool unified; /* of cgroup v2 */
    char dir[CGROUP_DIR_MAX];
};

/* What runs in a step's folder. */
enum slurm_life {
    SLURM_EMPTY,  /* nothing, or slurmstepd alone */
    SLURM_STARTS, /* a task that is still called slurmstepd: it has not begun its program */
    SLURM_RUNS
};

typedef void slurm_visit_job(const struct slurm_job *job, const struct cpus *cpus, void *arg);
typedef void slurm_visit_step(const struct slurm_job *job, struct wire_step_id id, const char *dir,
                              void *arg);

/* Calls visit with each of Slurm's jobs on the node and the CPUs that Slurm gave it, as far as it
 * confines them; with those of which Slurm left only the folder, too. For cgroup v1 and v2. */
void slurm_jobs_cgroup1(struct slurm_cgroups slurm, const char *node, slurm_visit_job *visit,
                        void *arg);
void slurm_jobs_cgroup2(struct slurm_cgroups slurm, const char *node, slurm_visit_job *visit,
                        void *arg);

/* Finds the job's folder by one of its steps, and remembers whose it is. False where Slurm confines
 * none. */
bool slurm_job_of(struct slurm_cgroups slurm, struct wire_step_id id, const char *leaf,
                  struct slurm_job *job);

/* Tells whether any process is in the job's folder or below it; one that cannot be read has some.
 */
bool slurm_job_lives(struct slurm_cgroups slurm, const struct slurm_job *job);

/* Calls visit with each step folder of the job, but for the external one, which is there from the
 * job's begin to its end. */
void slurm_job_steps(struct slurm_cgroups slurm, const struct slurm_job *job,
                     slurm_visit_step *visit, void *arg);

/* Tells what runs in a step's folder, and reads the CPUs that it may run on (none: not known). */
enum slurm_life slurm_step_life(struct slurm_cgroups slurm, const struct slurm_job *job,
                                const char *dir, struct cpus *cpus);

#endif
