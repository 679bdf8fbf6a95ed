/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_job - see slurm_job.h. squeue and sacct are asked for the same columns, so that there is
 * one reader; the job's name is the last one, for it may hold the separator. */
#include "packer/cli/find/slurm_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/system/run_program.h"

#define LIMIT_S 5
#define SAID_MAX (1u << 20)
#define COLUMNS 13
#define SQUEUE "%A|%U|%D|%T|%N|%i|%M|%S|%C||%P|%a|%j"

static const char sacct_fields[] = "JobIDRaw,UID,NNodes,State,NodeList,JobID,Elapsed,Start,"
                                   "AllocCPUS,AllocTRES,Partition,Account,JobName";

/* ---- texts ---- */

/* Returns seconds of "[D-][HH:]MM:SS"; NAN of another text. */
static double slurm_job_seconds(const char *text)
{
    unsigned days = 0, part[3] = {0}, n;
    const char *dash = strchr(text, '-');

    if (dash && sscanf(text, "%u-", &days) != 1)
        return NAN;
    n = (unsigned)sscanf(dash ? dash + 1 : text, "%u:%u:%u", &part[0], &part[1], &part[2]);
    if (n == 3)
        return days * 86400.0 + part[0] * 3600.0 + part[1] * 60.0 + part[2];
    return n == 2 && !dash ? part[0] * 60.0 + part[1] : NAN;
}

/* Returns the bytes of "mem=" in a list of TRES, as "cpu=2,mem=1.50G,node=1"; NAN without one. */
static double slurm_job_tres_memory(const char *tres)
{
    static const char unit[] = "KMGTP";
    const char *at = strstr(tres, "mem="), *found;
    double value;
    char letter = 'M';

    if (!at || sscanf(at, "mem=%lf%c", &value, &letter) < 1)
        return NAN;
    found = strchr(unit, letter);
    return found && letter ? value * pow(1024, (double)(found - unit + 1)) : value * 1048576;
}

/* Returns the unix time of "2026-11-21T08:00:00" in local time; 0 of "N/A" and "Unknown". */
static int64_t time_of(const char *text)
{
    struct tm tm = {.tm_isdst = -1};
    time_t at;

    if (!strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
        return 0;
    at = mktime(&tm);
    return at > 0 ? (int64_t)at : 0;
}

/* ---- rows ---- */

static void copy(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%.*s", (int)size - 1, text);
}

/* What Slurm does not have, squeue prints as printf(3) does a missing text. */
static void copy_known(char *to, size_t size, const char *text)
{
    copy(to, size, strcmp(text, "(null)") == 0 ? "" : text);
}

/* Reads a line; what is in it of nodes that are not assigned is no node. */
static bool read_line(char *line, struct slurm_job *job)
{
    char *column[COLUMNS];
    size_t n = 0;

    memset(job, 0, sizeof(*job));
    while (n + 1 < COLUMNS && line && (column[n] = strsep(&line, "|")))
        n++;
    if (n + 1 < COLUMNS || !line)
        return false;
    column[n] = line;
    job->job = (uint32_t)strtoul(column[0], NULL, 10);
    job->uid = (uint32_t)strtoul(column[1], NULL, 10);
    job->nodes = (uint32_t)strtoul(column[2], NULL, 10);
    copy(job->state, sizeof(job->state), column[3]);
    copy(job->node_list, sizeof(job->node_list),
         column[4][0] == 'N' && strstr(column[4], "assigned") ? "" : column[4]);
    copy(job->id, sizeof(job->id), column[5]);
    job->elapsed_s = slurm_job_seconds(column[6]);
    job->start = time_of(column[7]);
    job->cpus = (uint32_t)strtoul(column[8], NULL, 10);
    job->memory_bytes = slurm_job_tres_memory(column[9]);
    copy_known(job->partition, sizeof(job->partition), column[10]);
    copy_known(job->account, sizeof(job->account), column[11]);
    copy_known(job->name, sizeof(job->name), column[12]);
    return job->job > 0;
}

static size_t ask(const char *const *argv, struct slurm_job jobs[SLURM_JOBS_MAX])
{
    char *said = malloc(SAID_MAX), *rest = said, *line;
    size_t n = 0;

    if (said && run_program((char *const *)argv, RUN_OUTPUT, LIMIT_S, NULL, said, SAID_MAX) == 0)
        while (n < SLURM_JOBS_MAX && (line = strsep(&rest, "\n")))
            n += read_line(line, &jobs[n]);
    free(said);
    return n;
}

size_t slurm_jobs_named(const struct job_id *id, struct slurm_job jobs[SLURM_JOBS_MAX])
{
    char name[JOB_ID_NAME_MAX];
    const char *const argv[] = {"squeue", "-h", "-t", "all", "-o", SQUEUE, "-j", name, NULL};

    job_id_name(id, name);
    return ask(argv, jobs);
}

size_t slurm_jobs_accounted(const struct job_id *id, struct slurm_job jobs[SLURM_JOBS_MAX])
{
    char name[JOB_ID_NAME_MAX];
    const char *const argv[] = {"sacct", "-n", "-X", "-P", "-o", sacct_fields, "-j", name, NULL};

    job_id_name(id, name);
    return ask(argv, jobs);
}

size_t slurm_jobs_on(const char *node, uint32_t uid, struct slurm_job jobs[SLURM_JOBS_MAX])
{
    char user[16];
    const char *const argv[] = {"squeue", "-h", "-t", "R",  "-o", SQUEUE,
                                "-w",     node, "-u", user, NULL};

    snprintf(user, sizeof(user), "%u", uid);
    return ask(argv, jobs);
}

void slurm_job_ask_memory(struct slurm_job *job)
{
    char number[16], *said = malloc(SAID_MAX);
    const char *const argv[] = {"scontrol", "-o", "show", "job", number, NULL}, *tres = NULL;

    snprintf(number, sizeof(number), "%u", job->job);
    if (said && run_program((char *const *)argv, RUN_OUTPUT, LIMIT_S, NULL, said, SAID_MAX) == 0)
        tres = strstr(said, " AllocTRES=");
    if (said && !tres)
        tres = strstr(said, " TRES="); /* before Slurm 23.02 */
    if (tres) {
        said[(size_t)(tres - said) + 1 + strcspn(tres + 1, " \n")] = '\0';
        job->memory_bytes = slurm_job_tres_memory(tres);
    }
    free(said);
}

bool slurm_job_runs(const struct slurm_job *job)
{
    return strcmp(job->state, "RUNNING") == 0;
}
