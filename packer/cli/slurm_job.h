/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_job - what Slurm says of jobs, by squeue and sacct: their states and where they run. Each
 * question has some seconds at most. */
#ifndef BERTH_CLI_SLURM_JOB_H
#define BERTH_CLI_SLURM_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/cli/common/job_id.h"

#define SLURM_JOBS_MAX 64

struct slurm_job {
    uint32_t job; /* Slurm's own number */
    uint32_t uid;
    uint32_t nodes;
    char state[32];       /* "RUNNING"; "" not known */
    char node_list[1024]; /* "n[1-4]"; "" none yet */
};

/* Asks squeue for the jobs of this name: of an array all tasks. Returns how many they are, the
 * first SLURM_JOBS_MAX; 0 where it knows none, or there is no Slurm. */
size_t slurm_jobs_named(const struct job_id *id, struct slurm_job jobs[SLURM_JOBS_MAX]);

/* Asks likewise for the jobs of a user that run on the node. */
size_t slurm_jobs_on(const char *node, uint32_t uid, struct slurm_job jobs[SLURM_JOBS_MAX]);

bool slurm_job_runs(const struct slurm_job *job);

#endif
