/* SPDX-License-Identifier: GPL-2.0-or-later */
/* find - see find.h */
#include "packer/cli/find/find.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/pieces.h"
#include "packer/cli/find/find_ledger.h"
#include "packer/cli/find/job_raw.h"
#include "packer/cli/find/remote.h"
#include "packer/cli/find/untold.h"
#include "packer/report/node_list.h"

#define CLOCKS_DIFFER_S 5 /* between slurmctld's and a node's, at most */

static struct json_object *new_answer(void)
{
    struct json_object *answer = json_object_new_object();

    json_add(answer, "node", NULL);
    json_add(answer, "steps", json_object_new_array());
    return answer;
}

int find_print_json(const struct find *find, struct json_object *answer)
{
    return find->pieces ? pieces_print(answer) : ctl_print_json(answer);
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

/* A look for a job's steps: what was asked, and what was heard. */
struct look {
    const struct find *find;
    const char *socket; /* of this node's berthd */
    struct typed typed;
    const struct job_id *id;
    struct json_object *answer;
    bool berthd;                     /* this node's has answered; else, and of the ledger: */
    struct berth_error said, ledger; /* why not; "": it was read */
};

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

/* ---- what Slurm knows of the job ---- */

/* Asks the nodes of a job. Returns 0, or -1 and err: why that was in vain. */
static int ask_job(struct look *look, const struct slurm_job *job, struct berth_error *err)
{
    const struct job_id id = {job->job, JOB_ID_NONE, JOB_ID_NONE, look->id->step, true};
    const struct remote remote = {job, NULL, look->find->config, wait_of(look->find)};
    struct json_object *said = new_answer();
    char name[WIRE_STEP_NAME_MAX];
    struct berth_error why;
    bool told = false;
    int rc;

    wire_step_name((struct wire_step_id){job->job, look->id->step}, name);
    rc = remote_ask(&remote, "explain", name, said, &told, &why);
    keep_meant(said, &id);
    remote_add(look->answer, said);
    json_object_put(said);
    if (rc == 0)
        return 0;
    if (told)
        return berth_error_set(err, "%s", why.text);
    return untold_set(err, UNTOLD_ASKED_IN_VAIN, &look->typed, job, why.text);
}

/* Does the job run, or did it, on the node of this berthd, or, if none answers, of that name? */
static bool is_here(const struct look *look, const struct slurm_job *job)
{
    const char *own = ctl_text(ctl_object(look->answer, "node"), "name");
    char host[256] = "", **names;
    struct berth_error err;
    bool here = false;
    size_t n;

    if (gethostname(host, sizeof(host) - 1) < 0 ||
        node_list_expand(job->node_list, &names, &n, &err) < 0)
        return false;
    host[strcspn(host, ".")] = '\0';
    for (size_t i = 0; i < n; i++)
        here = here || strcmp(names[i], look->berthd ? own : host) == 0;
    node_list_free(names, n);
    return here;
}

/* Did the job begin before this node's berthd? */
static bool was_before(const struct look *look, const struct slurm_job *job)
{
    double up_s = ctl_number(ctl_object(look->answer, "node"), "uptime_s");

    return job->start && (double)job->start + CLOCKS_DIFFER_S < (double)time(NULL) - up_s;
}

/* Does this node's berthd know other steps of the job than the one that is meant? */
static bool has_others(const struct look *look)
{
    const struct job_id whole = {look->id->job, look->id->task, look->id->part, UINT32_MAX,
                                 look->id->exact};
    struct json_object *answer = NULL;
    struct berth_error err;
    bool any;

    if (look->berthd && look->id->step != UINT32_MAX)
        answer = ask_here(look->socket, &whole, &err);
    any = found(answer) > 0;
    json_object_put(answer);
    return any;
}

/* Says why nothing is told of a job that is, or was, on this node. */
static int judge_here(const struct look *look, const struct slurm_job *job, struct berth_error *err)
{
    bool unread = look->ledger.text[0] && !slurm_job_runs(job);
    enum untold why = !look->berthd           ? UNTOLD_NO_BERTHD
                      : has_others(look)      ? UNTOLD_OTHER_STEP
                      : was_before(look, job) ? UNTOLD_BEFORE_BERTHD
                      : unread                ? UNTOLD_FORGOTTEN
                                              : UNTOLD_NOT_ASKED;

    return untold_set(err, why, &look->typed, job,
                      look->berthd ? look->ledger.text : look->said.text);
}

/* A ledger of a server has what was asked for on any node. */
static int judge_elsewhere(const struct look *look, const struct slurm_job *job, bool shared,
                           struct berth_error *err)
{
    bool whole = shared && !look->ledger.text[0];

    if (slurm_job_runs(job))
        return untold_set(err, UNTOLD_RUNS_ELSEWHERE, &look->typed, job, "");
    return untold_set(err, whole ? UNTOLD_NOT_ASKED : UNTOLD_RAN_ELSEWHERE, &look->typed, job,
                      look->ledger.text);
}

/* Says why nothing is told of a job, or, where that was asked for, asks its nodes. Returns 0 if
 * they have answered, else -1 and err. */
static int judge(struct look *look, const struct slurm_job *job, bool shared,
                 struct berth_error *err)
{
    bool runs = slurm_job_runs(job), own = job->uid == getuid();

    if (!runs && !job->node_list[0])
        return untold_set(
            err, strncmp(job->state, "PENDING", 7) == 0 ? UNTOLD_PENDING : UNTOLD_NEVER_RAN,
            &look->typed, job, "");
    if (!own && runs && !is_here(look, job))
        return untold_set(err, UNTOLD_FOREIGN_RUNS, &look->typed, job, "");
    if (!own && getuid() != 0)
        return untold_set(err, UNTOLD_FOREIGN, &look->typed, job, "");
    if (is_here(look, job))
        return judge_here(look, job, err);
    if (runs && look->find->ask)
        return ask_job(look, job, err);
    return judge_elsewhere(look, job, shared, err);
}

/* Does so of all jobs of that name. 0: Slurm knows none, or a node has answered. */
static int judge_all(struct look *look, const struct conf *conf, struct berth_error *err)
{
    bool shared = strncmp(conf->ledger, "sqlite:", 7) != 0;
    struct slurm_job jobs[SLURM_JOBS_MAX];
    size_t n = slurm_jobs_named(look->id, jobs);
    int rc = 0;

    if (n == 0)
        n = slurm_jobs_accounted(look->id, jobs);
    for (size_t i = 0; i < n; i++) {
        if (look->id->exact &&
            jobs[i].job != look->id->job) /* squeue names all tasks of an array */
            continue;
        rc = judge(look, &jobs[i], shared, err);
        if (rc < 0 && look->find->ask && slurm_job_runs(&jobs[i]))
            break; /* others would not say more, and each takes its time */
    }
    return rc;
}

/* ---- all places ---- */

/* Says that nobody knows, of what Slurm does not know, either. */
static void say_nobody(const struct look *look, struct berth_error *err)
{
    const char *unread = look->ledger.text;
    char why[sizeof(err->text)];

    if (look->berthd)
        snprintf(why, sizeof(why), "%.0f%s%.300s",
                 ctl_number(ctl_object(look->answer, "node"), "history"), unread[0] ? "; " : "",
                 unread);
    else
        snprintf(why, sizeof(why), "%.200s; %.200s", look->said.text,
                 unread[0] ? unread : "the ledger has no such step");
    untold_set(err, look->berthd ? UNTOLD_NO_STEP : UNTOLD_NOBODY, &look->typed, NULL, why);
}

/* Looks everywhere, in the order of what costs least. */
static struct json_object *look_everywhere(const struct find *find, const struct conf *conf,
                                           const struct typed *typed, const struct job_id *id,
                                           struct berth_error *err)
{
    struct look look = {.find = find, .socket = conf->socket, .typed = *typed, .id = id};
    int rc = 0;

    look.answer = ask_here(conf->socket, id, &look.said);
    look.berthd = look.answer != NULL;
    if (!look.answer)
        look.answer = new_answer();
    if (find_ledger(conf, id, ctl_object(look.answer, "steps"), &look.ledger) == 0)
        look.ledger.text[0] = '\0';
    keep_meant(look.answer, id);
    if (!find->here && (found(look.answer) == 0 || (find->ask && !look.berthd)))
        rc = judge_all(&look, conf, err);
    keep_meant(look.answer, id);
    if (found(look.answer))
        return look.answer;
    if (rc == 0)
        say_nobody(&look, err);
    json_object_put(look.answer);
    return NULL;
}

/* Asks one berthd and nobody else. */
static struct json_object *look_at(const char *socket, const struct typed *typed, struct job_id *id,
                                   struct berth_error *err)
{
    struct look look = {.typed = *typed, .id = id, .berthd = true};

    if (job_raw_find(socket, id, err) < 0)
        return NULL;
    look.answer = ask_here(socket, id, err);
    if (!look.answer || found(look.answer))
        return look.answer;
    say_nobody(&look, err);
    json_object_put(look.answer);
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
    return look_everywhere(find, &conf, &typed, id, err);
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
                        NULL, answer, NULL, err) == 0)
        return answer;
    json_object_put(answer);
    return NULL;
}
