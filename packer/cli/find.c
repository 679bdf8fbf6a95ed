/* SPDX-License-Identifier: GPL-2.0-or-later */
/* find - see find.h */
#include "packer/cli/find.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/find_ledger.h"
#include "packer/cli/job_raw.h"
#include "packer/cli/remote.h"

static struct json_object *new_answer(void)
{
    struct json_object *answer = json_object_new_object();

    json_add(answer, "node", NULL);
    json_add(answer, "steps", json_object_new_array());
    return answer;
}

static double wait_of(const struct find *find)
{
    return find->wait_s > 0 ? find->wait_s : REMOTE_WAIT_S;
}

static size_t found(struct json_object *answer)
{
    return ctl_length(ctl_object(answer, "steps"));
}

/* Says whether the step is one that asked, as `remote` starts them: nobody means it. */
static bool is_question(struct json_object *asked, const struct job_id *id)
{
    const char *exe = ctl_text(asked, "exe"), *slash = strrchr(exe, '/');

    return id->step == UINT32_MAX && strcmp(slash ? slash + 1 : exe, "berthctl") == 0;
}

/* Drops the steps that are of other tasks of the array, or that only asked. */
static void keep_meant(struct json_object *answer, const struct job_id *id)
{
    struct json_object *steps = ctl_object(answer, "steps");

    for (size_t i = ctl_length(steps); i-- > 0;) {
        struct json_object *asked = ctl_object(json_object_array_get_idx(steps, i), "request");
        double array = ctl_number(asked, "array_job"), task = ctl_number(asked, "array_task");
        double job = ctl_number(asked, "job"), step = ctl_number(asked, "step");

        if (is_question(asked, id) ||
            (job >= 0 && step >= 0 && array >= 0 && task >= 0 &&
             !job_id_means(id, (struct wire_step_id){(uint32_t)job, (uint32_t)step},
                           (uint32_t)array, (uint32_t)task)))
            json_object_array_del_idx(steps, i, 1);
    }
}

/* ---- the jobs' own nodes ---- */

/* What somebody asks, as he would type it: "berthctl explain 3_2". */
struct typed {
    const char *verb, *name;
};

/* Asks the nodes of a job. Returns 0, or -1 and err: what to type where that is in vain. */
static int ask_job(const struct find *find, const struct typed *typed, const struct slurm_job *job,
                   uint32_t step, struct json_object *answer, struct berth_error *err)
{
    const struct job_id id = {job->job, JOB_ID_NONE, JOB_ID_NONE, step, true};
    const struct remote remote = {job, NULL, find->config, wait_of(find)};
    struct json_object *said;
    struct berth_error why;
    char name[WIRE_STEP_NAME_MAX];
    int rc;

    if (!slurm_job_runs(job) && !job->node_list[0])
        return berth_error_set(err, "it is %s: berth knows of a job once it runs", job->state);
    if (!slurm_job_runs(job))
        return berth_error_set(err, "it is %s; on %.200s type: berthctl %s %s", job->state,
                               job->node_list, typed->verb, typed->name);
    if (job->uid != getuid())
        return berth_error_set(err,
                               "it is another user's, and runs on %.200s: its owner, or root, can "
                               "type there: berthctl %s %s",
                               job->node_list, typed->verb, typed->name);
    wire_step_name((struct wire_step_id){job->job, step}, name);
    said = new_answer();
    rc = remote_ask(&remote, "explain", name, said, &why);
    keep_meant(said, &id);
    remote_add(answer, said);
    json_object_put(said);
    if (rc == 0)
        return 0;
    return berth_error_set(err, "it runs on %.100s, and %.200s; type there: berthctl %s %s",
                           job->node_list, why.text, typed->verb, typed->name);
}

/* Asks the nodes of all jobs of that name; `why` is what the last one said that could not be asked
 * ("": none, or Slurm knows no such job). */
static void ask_nodes(const struct find *find, const struct typed *typed, const struct job_id *id,
                      struct json_object *answer, struct berth_error *why)
{
    struct slurm_job jobs[SLURM_JOBS_MAX];
    size_t n = slurm_jobs_named(id, jobs);

    why->text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        if ((!id->exact || jobs[i].job == id->job) && /* squeue names all tasks of an array */
            ask_job(find, typed, &jobs[i], id->step, answer, why) < 0 && slurm_job_runs(&jobs[i]))
            return; /* others would not say more, and each takes its time */
}

/* ---- all places ---- */

/* Asks this node's berthd. NULL and err: there is none. */
static struct json_object *ask_here(const char *socket, const struct job_id *id,
                                    struct berth_error *err)
{
    const struct wire_request request = {.op = WIRE_OP_EXPLAIN, .id = {id->job, id->step}};
    struct json_object *answer = ctl_ask(socket, &request, err);

    if (answer)
        keep_meant(answer, id);
    return answer;
}

/* What was heard where nothing was found; "" nothing. */
struct silence {
    struct berth_error berthd, ledger, jobs;
};

/* Says that nobody knows, in one line. */
static void say_nothing(struct json_object *node, const struct silence *silence,
                        const struct typed *typed, struct berth_error *err)
{
    const char *unread = silence->ledger.text;

    if (silence->jobs.text[0])
        berth_error_set(err, "%s", silence->jobs.text);
    else if (node)
        berth_error_set(err,
                        "no such step here (ended steps are remembered: the last %.0f%s%.300s)",
                        ctl_number(node, "history"), unread[0] ? "; " : "", unread);
    else
        berth_error_set(err, "%.200s; %s%.200s; on the job's node type: berthctl %s %s",
                        silence->berthd.text, unread[0] ? "" : "the ledger has no such step",
                        unread, typed->verb, typed->name);
}

/* Looks everywhere, in the order of what costs least. */
static struct json_object *look(const struct find *find, const struct conf *conf,
                                const struct typed *typed, const struct job_id *id,
                                struct berth_error *err)
{
    struct silence silence = {0};
    struct json_object *answer = ask_here(conf->socket, id, &silence.berthd);
    bool berthd = answer != NULL;

    if (!answer)
        answer = new_answer();
    if (!berthd && !find->here)
        ask_nodes(find, typed, id, answer, &silence.jobs);
    if (find_ledger(conf, id, ctl_object(answer, "steps"), &silence.ledger) == 0)
        silence.ledger.text[0] = '\0';
    if (berthd && !find->here && found(answer) == 0)
        ask_nodes(find, typed, id, answer, &silence.jobs);
    keep_meant(answer, id);
    if (found(answer))
        return answer;
    say_nothing(ctl_object(answer, "node"), &silence, typed, err);
    json_object_put(answer);
    return NULL;
}

/* Asks one berthd and nobody else. */
static struct json_object *look_at(const char *socket, const struct typed *typed, struct job_id *id,
                                   struct berth_error *err)
{
    struct silence silence = {0};
    struct json_object *answer;

    if (job_raw_find(socket, id, err) < 0)
        return NULL;
    answer = ask_here(socket, id, err);
    if (!answer || found(answer))
        return answer;
    say_nothing(ctl_object(answer, "node"), &silence, typed, err);
    json_object_put(answer);
    return NULL;
}

struct json_object *find_steps(const struct find *find, const char *verb, struct job_id *id,
                               const char *name, struct berth_error *err)
{
    const struct typed typed = {verb, name};
    struct conf conf;

    if (find->socket)
        return look_at(find->socket, &typed, id, err);
    if (ctl_conf(find->config, &conf, err) < 0)
        return NULL;
    if (job_raw_find(conf.socket, id, err) < 0 && id->part != JOB_ID_NONE)
        return NULL; /* the ledger knows a task by its array */
    return look(find, &conf, &typed, id, err);
}

/* ---- a node ---- */

struct json_object *find_node(const struct find *find, const char *node, struct berth_error *err)
{
    const struct wire_request request = {.op = WIRE_OP_STATUS};
    struct slurm_job jobs[SLURM_JOBS_MAX];
    struct json_object *answer;
    struct conf conf;
    size_t n;

    if (!find->socket && ctl_conf(find->config, &conf, err) < 0)
        return NULL;
    answer = ctl_ask(find->socket ? find->socket : conf.socket, &request, err);
    if (!node || (answer && strcmp(ctl_text(ctl_object(answer, "node"), "name"), node) == 0))
        return answer;
    json_object_put(answer);
    n = find->here ? 0 : slurm_jobs_on(node, getuid(), jobs);
    answer = new_answer();
    if (n == 0)
        berth_error_set(err, "no job of yours runs there to ask by; type there: berthctl status");
    else if (remote_ask(&(struct remote){&jobs[0], node, find->config, wait_of(find)}, "status",
                        NULL, answer, err) == 0)
        return answer;
    json_object_put(answer);
    return NULL;
}
