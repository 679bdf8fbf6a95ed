/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth-job - asks slurmctld, and where that has forgotten a job slurmdbd, who the job is; berthd
 * starts it (packer/identity/asker.h).
 *
 * A program of its own for the reasons that berth-comment is one: libslurm ends the process that
 * uses it when it dislikes slurm.conf, waits long for servers, and is one for each Slurm series.
 *
 * A number can have several runs (a job that was requeued), and slurmctld knows of the last one
 * only. The run that is meant is the one that had begun at the time asked for. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLURM_BACKWARD_COMPAT /* from 26.05 on: slurm_load_job() still takes a job's number */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>

#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/identity/said.h"

/* libslurm exports it, and no header declares it; slurm_init() fills it from slurm.conf. */
extern slurm_conf_t slurm_conf;

enum { DONE = 0, USAGE = 2, LATER = 75 }; /* 75 as EX_TEMPFAIL */

#define TIME_LIMIT_S 30

struct question {
    uint32_t job;
    time_t at; /* when the run was running; 0: the last run */
};

static int usage(FILE *out)
{
    fputs("usage: berth-job JOB[@TIME]...\n"
          "Prints who the jobs are, as one line of JSON, from slurmctld or else from slurmdbd.\n"
          "  TIME  Unix time at which the run that is meant was running (default: the last run)\n"
          "Exit status: 0 answered (of jobs that nobody knows, too); 75 nobody answers.\n",
          out);
    return out == stdout ? DONE : USAGE;
}

/* ---- texts ---- */

/* Copies a text of Slurm's; one that does not fit is not known. */
static void copy_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text && strlen(text) < size ? text : "");
}

static void take_name(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : ""); /* cut */
}

static bool began_by(time_t start, const struct question *question)
{
    return start && (!question->at || start <= question->at + SAID_CLOCKS_DIFFER_S);
}

static uint32_t known(uint32_t number)
{
    return number == NO_VAL || number == INFINITE ? 0 : number;
}

/* ---- slurmctld ---- */

static void read_job(const slurm_job_info_t *job, struct wire_identity *is)
{
    is->source = WIRE_SOURCE_SLURMCTLD;
    is->uid = job->user_id;
    is->start = job->start_time;
    is->restart = job->restart_cnt;
    is->nodes = known(job->num_nodes);
    is->array_job = known(job->array_job_id);
    is->array_task = is->array_job ? known(job->array_task_id) : 0;
    copy_text(is->account, sizeof(is->account), job->account);
    copy_text(is->qos, sizeof(is->qos), job->qos);
    copy_text(is->partition, sizeof(is->partition), job->partition);
    take_name(is->job_name, sizeof(is->job_name), job->name);
}

/* Says whether slurmctld tells of the run that is asked for. A job that was requeued has the number
 * of its next run at once, and still the start of its last one. */
static bool is_the_run(const slurm_job_info_t *job, const struct question *question)
{
    return job->job_id == question->job && (job->job_state & JOB_STATE_BASE) != JOB_PENDING &&
           began_by(job->start_time, question);
}

/* Returns 0 with the source none where slurmctld does not know this run; -1 with errno: it does not
 * answer. */
static int ask_slurmctld(const struct question *question, struct wire_identity *is)
{
    job_info_msg_t *jobs = NULL;

    errno = 0;
    if (slurm_load_job(&jobs, question->job, SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS)
        return errno == ESLURM_INVALID_JOB_ID ? 0 : -1;
    for (uint32_t i = 0; i < jobs->record_count; i++)
        if (is_the_run(&jobs->job_array[i], question))
            read_job(&jobs->job_array[i], is);
    slurm_free_job_info_msg(jobs);
    return 0;
}

/* ---- slurmdbd ---- */

static void *list_of(void *item)
{
    void *list = slurm_list_create(NULL);

    slurm_list_append(list, item);
    return list;
}

/* The rows of the job in this cluster; NULL: slurmdbd does not answer, or there is none. Lists of
 * Slurm's are "void *" here: their type has changed its name. */
static void *read_rows(void *db, const struct question *question)
{
    slurm_selected_step_t step = {.array_task_id = NO_VAL, .het_job_offset = NO_VAL};
    slurmdb_job_cond_t cond = {.db_flags = SLURMDB_JOB_FLAG_NOTSET};
    void *rows;

    step.step_id.job_id = question->job;
    step.step_id.step_id = NO_VAL;
    step.step_id.step_het_comp = NO_VAL;
    cond.flags = JOBCOND_FLAG_DUP | JOBCOND_FLAG_NO_STEP | JOBCOND_FLAG_NO_TRUNC |
                 JOBCOND_FLAG_NO_DEFAULT_USAGE | JOBCOND_FLAG_NO_WHOLE_HETJOB;
    cond.cluster_list = list_of(slurm_conf.cluster_name);
    cond.step_list = list_of(&step);
    rows = slurmdb_jobs_get(db, &cond);
    slurm_list_destroy(cond.cluster_list);
    slurm_list_destroy(cond.step_list);
    return rows;
}

static void read_row(const slurmdb_job_rec_t *row, struct wire_identity *is)
{
    is->source = WIRE_SOURCE_SLURMDBD;
    is->uid = row->uid;
    is->start = row->start;
    is->nodes = known(row->alloc_nodes);
    is->array_job = known(row->array_job_id);
    is->array_task = is->array_job ? known(row->array_task_id) : 0;
    copy_text(is->account, sizeof(is->account), row->account);
    copy_text(is->partition, sizeof(is->partition), row->partition);
    take_name(is->job_name, sizeof(is->job_name), row->jobname);
}

/* A row has its QOS by number. */
static void read_qos(void *db, uint32_t id, struct wire_identity *is)
{
    slurmdb_qos_cond_t cond = {0};
    slurmdb_qos_rec_t *qos;
    void *list, *iterator;
    char number[16];

    snprintf(number, sizeof(number), "%u", id);
    cond.id_list = list_of(number);
    list = slurmdb_qos_get(db, &cond);
    slurm_list_destroy(cond.id_list);
    if (!list)
        return;
    iterator = slurm_list_iterator_create(list);
    while ((qos = slurm_list_next(iterator)))
        if (qos->id == id)
            copy_text(is->qos, sizeof(is->qos), qos->name);
    slurm_list_iterator_destroy(iterator);
    slurm_list_destroy(list);
}

/* The last run that had begun by then; each one before it was requeued. */
static int ask_slurmdbd(void *db, const struct question *question, struct wire_identity *is)
{
    void *rows = db ? read_rows(db, question) : NULL, *iterator;
    slurmdb_job_rec_t *row, *found = NULL;
    uint32_t before = 0;

    if (!rows)
        return -1;
    iterator = slurm_list_iterator_create(rows);
    while ((row = slurm_list_next(iterator))) {
        if (row->jobid != question->job || !began_by(row->start, question))
            continue;
        before += found != NULL;
        if (!found || row->start >= found->start)
            found = row;
    }
    slurm_list_iterator_destroy(iterator);
    if (found) {
        read_row(found, is);
        is->restart = before;
        read_qos(db, found->qosid, is);
    }
    slurm_list_destroy(rows);
    return 0;
}

/* Returns the connection to slurmdbd, where the cluster has one; it is made when it is wanted. */
static void *database(void)
{
    static void *db;
    const char *type = slurm_conf.accounting_storage_type;
    uint16_t flags = 0;

    if (!db && type && strstr(type, "slurmdbd"))
        db = slurmdb_connection_get(&flags);
    return db;
}

/* ---- the line ---- */

/* Adds what is known of a job, or why nothing is. Returns whether somebody answered. */
static bool add_job(struct json_object *list, const struct question *question)
{
    struct json_object *object = json_object_new_object();
    struct wire_identity is = {.job = question->job};
    bool answered = ask_slurmctld(question, &is) == 0;
    const char *why = answered ? "slurmctld does not know it" : slurm_strerror(errno);

    if (is.source == WIRE_SOURCE_NONE && ask_slurmdbd(database(), question, &is) == 0)
        answered = true;
    copy_text(is.cluster, sizeof(is.cluster), slurm_conf.cluster_name);
    if (is.source == WIRE_SOURCE_NONE)
        json_add_text(object, "why", why);
    wire_identity_clean(&is);
    text_clean(is.job_name);
    json_write(object, wire_identity_fields, &is);
    json_append(list, object);
    return answered;
}

static int answer_all(const struct question *question, int n)
{
    struct json_object *reply = json_object_new_object(), *list = json_object_new_array();
    bool answered = false;

    for (int i = 0; i < n; i++)
        answered |= add_job(list, &question[i]);
    json_add(reply, "jobs", list);
    puts(json_object_to_json_string_ext(reply, JSON_C_TO_STRING_PLAIN));
    json_object_put(reply);
    return answered ? DONE : LATER;
}

/* ---- main ---- */

/* Reads JOB or JOB@TIME. 0, or -1: it is neither. */
static int read_question(const char *text, struct question *question)
{
    uintmax_t job, at = 0;
    char *end;

    errno = 0;
    job = strtoumax(text, &end, 10);
    if (end == text || *text == '-' || job == 0 || job >= NO_VAL)
        return -1;
    if (*end == '@') {
        text = end + 1;
        at = strtoumax(text, &end, 10);
        if (end == text || *text == '-' || at > INT64_MAX)
            return -1;
    }
    *question = (struct question){(uint32_t)job, (time_t)at};
    return *end || errno ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct question question[SAID_JOBS_MAX];

    if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0))
        return usage(stdout);
    if (argc < 2 || argc - 1 > SAID_JOBS_MAX)
        return usage(stderr);
    for (int i = 1; i < argc; i++)
        if (read_question(argv[i], &question[i - 1]) < 0)
            return usage(stderr);
    alarm(TIME_LIMIT_S);
    slurm_init(NULL);
    return answer_all(question, argc - 1);
}
