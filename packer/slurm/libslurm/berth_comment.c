/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth-comment - writes a job's figures into its AdminComment at slurmdbd, and its energy into
 * AllocTRES; berthd starts it when a job's steps are over (packer/settle/settler.h).
 *
 * A program of its own: libslurm ends the process that uses it when it dislikes slurm.conf, waits
 * long for servers, and is one for each Slurm series.
 *
 * slurmdbd has a row for each run of a job that was requeued, and arrays and heterogeneous jobs
 * have several jobs under one number. A change goes to all the rows that a condition describes, so
 * the condition here is: this task or part, this state, ended in this very second. It can only be
 * said of a run that has ended; before that the answer is "later". Nothing keeps others from
 * changing the comment between our reading and our writing, so it is read again afterwards.
 *
 * slurmdbd lets a TRES of a job be changed from Slurm 25.11 on; it is never older than who talks to
 * it, so the series that this program is built for tells. Where Slurm gathers energy itself its
 * figure stays. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>

#include "packer/base/error.h"
#include "packer/settle/comment.h"

enum {
    DONE = 0,
    NEVER = 1,
    USAGE = 2,
    TOO_LARGE = 3,
    REFUSED = 4,
    LATER = 75
}; /* 75 as EX_TEMPFAIL */

#define CLOCKS_DIFFER_S 2
#define TIME_LIMIT_S 30
#define TRES_OF_ENERGY 3 /* slurmdbd's number for it, always */
#define TAKES_TRES (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0))

/* libslurm exports it, and no header declares it; slurm_init() fills it from slurm.conf. Rows of
 * other clusters are none of this node's business. */
extern slurm_conf_t slurm_conf;

struct task {
    uint32_t job, uid, max_nodes;
    time_t at;           /* when the run was running; 0: the last run */
    const char *figures; /* NULL: the comment stays as it is */
    uint64_t joules;     /* 0: AllocTRES stays as it is */
    bool ask;
    void *db;
};

/* What a condition borrows. Lists of Slurm's are "void *" here: their type has changed its name. */
struct condition {
    slurmdb_job_cond_t cond;
    slurm_selected_step_t step;
    char state[16];
};

static int usage(FILE *out)
{
    fputs("usage: berth-comment -u UID -j JOB [-t TIME] [-n NODES] [-e JOULES] [FIGURES]\n"
          "       berth-comment -q\n"
          "Writes FIGURES, a JSON object, as \"berth\" into the AdminComment of a job of this "
          "cluster\n(slurm.conf's ClusterName) that has ended.\n"
          "  -u UID    only if that user's job it is\n"
          "  -j JOB    number of the job, for arrays and heterogeneous jobs of the one task\n"
          "  -t TIME   Unix time at which that run of it was running (default: the last run)\n"
          "  -n NODES  only if the job had no more nodes than that\n"
          "  -e JOULES write that into its AllocTRES as well, for ever\n"
          "  -q        only say whether this site's Slurm takes that: status 0, or 4 and why not\n"
          "Exit status: 0 written, or there already; 75 try again later; 3 more nodes; 1 it cannot "
          "be "
          "written.\n",
          out);
    return out == stdout ? DONE : USAGE;
}

static int say(int status, const char *what, const char *why)
{
    fprintf(stderr, "berth-comment: %s: %s\n", what, why);
    return status;
}

/* ---- conditions ---- */

static void *list_of(void *item)
{
    void *list = slurm_list_create(NULL);

    slurm_list_append(list, item);
    return list;
}

static void condition_init(struct condition *c, uint32_t job, uint32_t array_task, uint32_t part)
{
    memset(c, 0, sizeof(*c));
    c->step.array_task_id = array_task;
    c->step.het_job_offset = part;
    c->step.step_id.job_id = job;
    c->step.step_id.step_id = NO_VAL;
    c->step.step_id.step_het_comp = NO_VAL;
    c->cond.db_flags = SLURMDB_JOB_FLAG_NOTSET;
    c->cond.flags = JOBCOND_FLAG_DUP | JOBCOND_FLAG_NO_STEP | JOBCOND_FLAG_NO_TRUNC |
                    JOBCOND_FLAG_NO_DEFAULT_USAGE | JOBCOND_FLAG_NO_WHOLE_HETJOB;
    c->cond.cluster_list = list_of(slurm_conf.cluster_name);
    c->cond.step_list = list_of(&c->step);
}

/* This run and no other. */
static void condition_of_run(struct condition *c, const slurmdb_job_rec_t *run)
{
    if (run->array_job_id)
        condition_init(c, run->array_job_id, run->array_task_id, NO_VAL);
    else if (run->het_job_id)
        condition_init(c, run->het_job_id, NO_VAL, run->het_job_offset);
    else
        condition_init(c, run->jobid, NO_VAL, NO_VAL);
    snprintf(c->state, sizeof(c->state), "%" PRIu32, run->state);
    c->cond.state_list = list_of(c->state);
    c->cond.usage_start = c->cond.usage_end = run->end;
}

static void condition_free(struct condition *c)
{
    slurm_list_destroy(c->cond.cluster_list);
    slurm_list_destroy(c->cond.step_list);
    if (c->cond.state_list)
        slurm_list_destroy(c->cond.state_list);
}

/* ---- the run ---- */

/* The last run of the list that had begun by then; borrowed, NULL: none. */
static slurmdb_job_rec_t *find_run(void *list, const struct task *task)
{
    void *iterator = slurm_list_iterator_create(list);
    slurmdb_job_rec_t *run, *found = NULL;

    while ((run = slurm_list_next(iterator)))
        if (run->jobid == task->job && run->start &&
            (!task->at || run->start <= task->at + CLOCKS_DIFFER_S) &&
            (!found || run->start >= found->start))
            found = run;
    slurm_list_iterator_destroy(iterator);
    return found;
}

/* The rows of the job; NULL: slurmdbd does not answer. */
static void *read_rows(const struct task *task)
{
    struct condition c;
    void *list;

    condition_init(&c, task->job, NO_VAL, NO_VAL);
    list = slurmdb_jobs_get(task->db, &c.cond);
    condition_free(&c);
    return list;
}

/* Can its comment be written? DONE, or the exit status, said. */
static int check_run(const struct task *task, const slurmdb_job_rec_t *run)
{
    if (!run)
        return say(LATER, "job", "slurmdbd does not know it yet");
    if (run->uid == 0 && task->uid != 0) /* slurmctld tells it whose it is later than the rest */
        return say(LATER, "job", "slurmdbd does not know whose it is yet");
    if (run->uid != task->uid)
        return say(NEVER, "job", "is not that user's");
    if (!run->end)
        return say(LATER, "job", "has not ended yet");
    if (run->end + CLOCKS_DIFFER_S < task->at)
        return say(LATER, "job", "slurmdbd does not know this run of it yet");
    if (task->max_nodes && run->alloc_nodes > task->max_nodes)
        return say(TOO_LARGE, "job", "had more nodes than the figures are of");
    return DONE;
}

/* ---- energy ---- */

/* Does Slurm gather energy itself, "acct_gather_energy/rapl"? */
static bool slurm_gathers(void)
{
    const char *type = slurm_conf.acct_gather_energy_type;
    const char *slash = type ? strchr(type, '/') : NULL;

    return type && type[0] && strcmp(slash ? slash + 1 : type, "none") != 0;
}

/* Does this site's Slurm take energy from us? DONE, or REFUSED, said. */
static int check_energy(void)
{
    char why[80];

    snprintf(why, sizeof(why), "from 25.11 on Slurm lets it be written, and this is %d.%02d",
             SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER), SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER));
    if (!TAKES_TRES)
        return say(REFUSED, "energy", why);
    if (slurm_gathers())
        return say(REFUSED, "energy",
                   "Slurm gathers it itself: AcctGatherEnergyType of slurm.conf is set");
    return DONE;
}

/* Joules of the run's AllocTRES, "1=4,3=77,4=1"; 0: none. */
static uint64_t energy_of(const slurmdb_job_rec_t *run)
{
    const char *at = run->tres_alloc_str;

    for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strtoul(at, NULL, 10) == TRES_OF_ENERGY && strchr(at, '='))
            return strtoull(strchr(at, '=') + 1, NULL, 10);
    return 0;
}

/* ---- the change ---- */

/* What of the run is still to be changed; NULL: nothing of it. */
struct due {
    char *comment, *tres;
};

static int write_due(const struct task *task, const slurmdb_job_rec_t *run, const struct due *due)
{
    slurmdb_job_rec_t change = {
        .admin_comment = due->comment, .tres_alloc_str = due->tres, .derived_ec = NO_VAL};
    struct condition c;
    void *list;
    int failure;

    condition_of_run(&c, run);
    errno = 0;
    list = slurmdb_job_modify(task->db, &c.cond, &change);
    failure = list ? 0 : errno;
    condition_free(&c);
    if (list)
        slurm_list_destroy(list);
    if (failure == ESLURM_ACCESS_DENIED)
        return say(NEVER, "slurmdbd", slurm_strerror(failure));
    if (!list || slurmdb_connection_commit(task->db, true) != SLURM_SUCCESS)
        return say(LATER, "slurmdbd does not change the job", slurm_strerror(failure));
    return DONE;
}

/* Finds what is due. DONE, or the exit status, said. */
static int find_due(const struct task *task, const slurmdb_job_rec_t *run, char tres[32],
                    struct due *due)
{
    struct berth_error err;

    if (task->joules && energy_of(run) != task->joules) {
        snprintf(tres, 32, "%d=%" PRIu64, TRES_OF_ENERGY, task->joules);
        due->tres = tres;
    }
    if (!task->figures)
        return DONE;
    due->comment = comment_merge(run->admin_comment, task->figures, &err);
    if (!due->comment)
        return say(NEVER, "comment", err.text);
    if (run->admin_comment && strcmp(run->admin_comment, due->comment) == 0) {
        free(due->comment);
        due->comment = NULL;
    }
    return DONE;
}

/* One reading, and a change if one is due (*changed); *energy: of nothing but the energy. */
static int tell_once(const struct task *task, bool *changed, bool *energy)
{
    void *rows = read_rows(task);
    slurmdb_job_rec_t *run = rows ? find_run(rows, task) : NULL;
    struct due due = {NULL, NULL};
    char tres[32];
    int status;

    *changed = false;
    if (!rows)
        return say(LATER, "slurmdbd", slurm_strerror(errno));
    status = check_run(task, run);
    if (status == DONE)
        status = find_due(task, run, tres, &due);
    if (status == DONE && (due.comment || due.tres))
        status = write_due(task, run, &due), *changed = true;
    *energy = !due.comment;
    free(due.comment);
    slurm_list_destroy(rows);
    return status;
}

/* What was written is there when it is read again. */
static int tell_job(const struct task *task)
{
    bool changed = true, energy = false;
    int status = DONE;

    for (int i = 0; i < 3 && changed && status == DONE; i++)
        status = tell_once(task, &changed, &energy);
    if (status == DONE && changed && energy)
        return say(NEVER, "energy", "slurmdbd does not keep it");
    if (status == DONE && changed)
        return say(LATER, "job", "somebody else changes its comment");
    return status;
}

/* ---- main ---- */

/* 0, or -1: no such number. */
static int read_number(const char *text, uint64_t max, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno || end == text || *end || *text == '-' || *number > max ? -1 : 0;
}

/* Returns the exit status where the options alone say it, else -1. */
static int parse_options(int argc, char **argv, struct task *task)
{
    uint64_t number;
    bool whose = false;
    int option;

    while ((option = getopt(argc, argv, "u:j:t:n:e:qh")) != -1) {
        if (option == 'h')
            return usage(stdout);
        if (option == 'u' && read_number(optarg, NO_VAL - 1, &number) == 0)
            task->uid = (uint32_t)number, whose = true;
        else if (option == 'j' && read_number(optarg, NO_VAL - 1, &number) == 0)
            task->job = (uint32_t)number;
        else if (option == 't' && read_number(optarg, INT32_MAX, &number) == 0)
            task->at = (time_t)number;
        else if (option == 'n' && read_number(optarg, UINT32_MAX, &number) == 0)
            task->max_nodes = (uint32_t)number;
        else if (option == 'e' && read_number(optarg, INT64_MAX, &number) == 0)
            task->joules = number;
        else if (option == 'q')
            task->ask = true;
        else
            return usage(stderr);
    }
    if (task->ask)
        return optind == argc ? -1 : usage(stderr);
    if (!whose || !task->job || optind < argc - 1 || (optind == argc && !task->joules))
        return usage(stderr);
    task->figures = argv[optind]; /* NULL at the end */
    return -1;
}

int main(int argc, char **argv)
{
    struct task task = {0};
    int status = parse_options(argc, argv, &task);
    uint16_t flags = 0;

    if (status >= 0)
        return status;
    alarm(TIME_LIMIT_S);
    slurm_init(NULL);
    if (task.ask || task.joules)
        status = check_energy();
    if (task.ask)
        return status;
    if (task.joules && status != DONE)
        task.joules = 0; /* said; the comment is another matter */
    if (!task.joules && !task.figures)
        return status;
    errno = 0;
    task.db = slurmdb_connection_get(&flags);
    if (!task.db || errno)
        return say(LATER, "slurmdbd", slurm_strerror(errno));
    status = tell_job(&task);
    slurmdb_connection_close(&task.db);
    slurm_fini();
    return status;
}
