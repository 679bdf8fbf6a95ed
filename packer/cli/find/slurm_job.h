/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_job - what Slurm says of jobs, by squeue and sacct: their states and where they run. Each
 * question has some seconds at most. */
#ifndef BERTH_CLI_FIND_SLURM_JOB_H
#define BERTH_CLI_FIND_SLURM_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/cli/common/job_id.h"

#define SLURM_JOBS_MAX 64

struct slurm_job {
    uint32_t job; /* Slurm's own number */
    uint32_t uid;
    uint32_t nodes, cpus;
    char state[48];       /* "RUNNING", "CANCELLED by 0"; "" not known */
    char node_list[1024]; /* "n[1-4]"; "" none yet */
    char id[64];          /* as people know it: "3_2", "3+1" */
    char name[128], partition[64], account[64];
    double elapsed_s;    /* NAN not known */
    int64_t start;       /* of this run, unix seconds; 0 not yet */
    double memory_bytes; /* given to the job on all nodes; NAN not known */
};

/* Asks squeue for the jobs of this name: of an array all tasks. Returns how many they are, the
 * first SLURM_JOBS_MAX; 0 where it knows none, or there is no Slurm. Their memory is not known. */
size_t slurm_jobs_named(const struct job_id *id, struct slurm_job jobs[SLURM_JOBS_MAX]);

/* Returns the same as sacct has it, which knows them for long where slurmdbd is there. */
size_t slurm_jobs_accounted(const struct job_id *id, struct slurm_job jobs[SLURM_JOBS_MAX]);

/* Returns the jobs of a user that run on the node, as squeue has them. */
size_t slurm_jobs_on(const char *node, uint32_t uid, struct slurm_job jobs[SLURM_JOBS_MAX]);

/* Asks scontrol for the memory of a job that squeue knows. */
void slurm_job_ask_memory(struct slurm_job *job);

bool slurm_job_runs(const struct slurm_job *job);

/* ---- texts of Slurm (for tests) ---- */

#endif
