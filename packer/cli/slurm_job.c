/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_job - see slurm_job.h */
#include "packer/cli/slurm_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/system/run_program.h"

#define LIMIT_S 5
#define SAID_MAX (1u << 20)
#define FORMAT "%A|%U|%D|%T|%N"

static bool read_line(const char *line, struct slurm_job *job)
{
    memset(job, 0, sizeof(*job));
    return sscanf(line, "%u|%u|%u|%31[^|\n]|%1023[^|\n]", &job->job, &job->uid, &job->nodes,
                  job->state, job->node_list) >= 4;
}

static size_t ask(const char *const *argv, struct slurm_job jobs[SLURM_JOBS_MAX])
{
    char *said = malloc(SAID_MAX), *save = NULL;
    size_t n = 0;

    if (said && run_program((char *const *)argv, RUN_ALL, LIMIT_S, NULL, said, SAID_MAX) == 0)
        for (char *line = strtok_r(said, "\n", &save); line && n < SLURM_JOBS_MAX;
             line = strtok_r(NULL, "\n", &save))
            n += read_line(line, &jobs[n]);
    free(said);
    return n;
}

size_t slurm_jobs_named(const struct job_id *id, struct slurm_job jobs[SLURM_JOBS_MAX])
{
    char name[JOB_ID_NAME_MAX];
    const char *const argv[] = {"squeue", "-h", "-t", "all", "-o", FORMAT, "-j", name, NULL};

    job_id_name(id, name);
    return ask(argv, jobs);
}

size_t slurm_jobs_on(const char *node, uint32_t uid, struct slurm_job jobs[SLURM_JOBS_MAX])
{
    char user[16];
    const char *const argv[] = {"squeue", "-h", "-t", "R",  "-o", FORMAT,
                                "-w",     node, "-u", user, NULL};

    snprintf(user, sizeof(user), "%u", uid);
    return ask(argv, jobs);
}

bool slurm_job_runs(const struct slurm_job *job)
{
    return strcmp(job->state, "RUNNING") == 0;
}
