/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle - see settle/settler.h */
#include "packer/settle/settler.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/clock.h"
#include "packer/base/log.h"
#include "packer/base/worker.h"
#include "packer/ledger/ledger.h"
#include "packer/settle/list.h"
#include "packer/system/run_program.h"

#define FIRST_TRY_S 1.5 /* the ledger takes a second */
#define RETRY_LIMIT_S 300
#define RUN_LIMIT_S 40 /* berth-comment gives up by itself before */
#define GIVE_UP_S (7 * 86400)

enum outcome { DONE, LATER, NEVER, NOT_WHOLE, NOTHING };
enum tres { TRES_OFF, TRES_UNASKED, TRES_TOLD, TRES_REFUSED };

struct settler {
    char ledger_url[PATH_MAX], ledger_defaults[PATH_MAX], program[PATH_MAX];
    struct ledger *ledger;
    bool comments;
    enum tres tres;     /* does it go into AllocTRES? Under the worker's mutex */
    char tres_why[256]; /* why it does not */
    struct worker worker;
    struct settle_list list; /* under the worker's mutex */
};

/* ---- one run ---- */

/* Does the ledger know this node's steps only? */
static bool of_one_node(const struct settler *settler)
{
    return strncmp(settler->ledger_url, "mariadb:", 8) != 0;
}

/* Asks berth-comment once whether this site's Slurm takes energy; what it cannot say yet it is
 * asked again at the next run. */
static void ask_energy(struct settler *settler)
{
    char ask[] = "-q", *argv[] = {settler->program, ask, NULL}, said[256];
    enum tres before = settler->tres, now = before;
    int status;

    if (before != TRES_UNASKED)
        return;
    status = run_program(argv, RUN_LAST_ERROR, RUN_LIMIT_S, &settler->worker.stopping, said,
                         sizeof(said));
    if (status == 0 || status == 4)
        now = status == 0 ? TRES_TOLD : TRES_REFUSED;
    worker_lock(&settler->worker);
    settler->tres = now;
    snprintf(settler->tres_why, sizeof(settler->tres_why), "%s", status == 0 ? "" : said);
    worker_unlock(&settler->worker);
    if (now == TRES_REFUSED)
        log_warn("no energy goes into AllocTRES: %s", said);
}

/* Starts berth-comment. */
static enum outcome tell(struct settler *settler, const struct ledger_run *run,
                         struct settle_figures *figures, char *said, size_t size)
{
    char job[16], uid[16], at[32], joules[32], *argv[16];
    int n = 0, status;

    snprintf(job, sizeof(job), "%u", run->job);
    snprintf(uid, sizeof(uid), "%u", run->uid);
    snprintf(at, sizeof(at), "%lld", (long long)run->at);
    argv[n++] = settler->program;
    argv[n++] = (char *)"-u", argv[n++] = uid;
    argv[n++] = (char *)"-j", argv[n++] = job;
    argv[n++] = (char *)"-t", argv[n++] = at;
    if (of_one_node(settler))
        argv[n++] = (char *)"-n", argv[n++] = (char *)"1";
    if (settler->tres == TRES_TOLD && figures->joules) {
        snprintf(joules, sizeof(joules), "%" PRIu64, figures->joules);
        argv[n++] = (char *)"-e", argv[n++] = joules;
    } else if (!settler->comments) {
        snprintf(said, size, "it has no energy that Slurm takes");
        return NOTHING;
    }
    if (settler->comments)
        argv[n++] = figures->json;
    argv[n] = NULL;
    status = run_program(argv, RUN_LAST_ERROR, RUN_LIMIT_S, &settler->worker.stopping, said, size);
    if (status == 0)
        return DONE;
    return status == 1 ? NEVER : status == 3 ? NOT_WHOLE : LATER;
}

static enum outcome settle(struct settler *settler, const struct ledger_run *run, char *said,
                           size_t size)
{
    struct settle_figures figures;
    struct berth_error err;
    enum outcome outcome;

    ask_energy(settler);
    if (settler->tres == TRES_UNASKED) {
        snprintf(said, size, "%s", settler->tres_why);
        return LATER;
    }
    if (ledger_run_waits(settler->ledger, run, &err) != 0 ||
        settle_figures_read(settler->ledger_url, settler->ledger_defaults, run, &figures, &err) <
            0) {
        snprintf(said, size, "%s", err.text);
        return LATER;
    }
    if (!figures.json) {
        snprintf(said, size, "the ledger has no record of it");
        return NOTHING;
    }
    outcome = tell(settler, run, &figures, said, size);
    free(figures.json);
    return outcome;
}

/* ---- the thread ---- */

static void log_outcome(const struct ledger_run *run, enum outcome outcome, const char *said)
{
    if (outcome == DONE)
        log_debug("job %u: slurmdbd has its figures", run->job);
    else
        log_line(outcome == NEVER ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
                 "job %u: its figures are not told to slurmdbd%s: %s", run->job,
                 outcome == NEVER ? "" : " yet", said);
}

/* Books what has become of an entry, unless it was put again meanwhile. Returns whether nothing is
 * left to be done for the run. The mutex is held. */
static bool book(struct settler *settler, const struct settle_entry *before, enum outcome outcome)
{
    struct settle_entry *entry = settle_list_find(&settler->list, &before->run);

    if (!entry || entry->puts != before->puts)
        return false;
    if (outcome == LATER && time(NULL) - entry->run.at < GIVE_UP_S) {
        settle_list_delay(entry, clock_s(), RETRY_LIMIT_S);
        return false;
    }
    settle_list_drop(&settler->list, entry);
    return true;
}

static void forget(struct settler *settler, const struct ledger_run *run)
{
    struct berth_error err;

    worker_unlock(&settler->worker);
    if (ledger_run_settled(settler->ledger, run, &err) < 0)
        log_warn("job %u: %s", run->job, err.text);
    worker_lock(&settler->worker);
}

/* Wait until an entry is due; NULL: the end. The mutex is held. */
static const struct settle_entry *wait_for_work(struct settler *settler)
{
    while (!settler->worker.stopping) {
        const struct settle_entry *next = settle_list_next(&settler->list);

        if (next && next->due_s <= clock_s())
            return next;
        worker_wait_until(&settler->worker, next ? next->due_s : INFINITY);
    }
    return NULL;
}

static void run_settler(void *arg)
{
    struct settler *settler = arg;
    const struct settle_entry *next;
    char said[512];

    worker_unlock(&settler->worker);
    ask_energy(settler);
    worker_lock(&settler->worker);
    while ((next = wait_for_work(settler))) {
        struct settle_entry entry = *next;
        enum outcome outcome;

        worker_unlock(&settler->worker);
        outcome = settle(settler, &entry.run, said, sizeof(said));
        worker_lock(&settler->worker);
        if (settler->worker.stopping && outcome != DONE)
            break;
        log_outcome(&entry.run, outcome, said);
        if (book(settler, &entry, outcome))
            forget(settler, &entry.run);
    }
}

/* ---- the event loop's side ---- */

int settler_open(struct settler **out, const struct conf *conf, struct ledger *ledger,
                 struct berth_error *err)
{
    struct settler *settler = calloc(1, sizeof(*settler));

    *out = NULL;
    if (!settler)
        return berth_no_memory(err);
    snprintf(settler->ledger_url, sizeof(settler->ledger_url), "%s", conf->ledger);
    snprintf(settler->ledger_defaults, sizeof(settler->ledger_defaults), "%s",
             conf->ledger_defaults);
    snprintf(settler->program, sizeof(settler->program), "%s",
             conf->comment_program[0] ? conf->comment_program : PKGLIBEXECDIR "/berth-comment");
    settler->ledger = ledger;
    settler->comments = conf->admin_comment == CONF_ON;
    settler->tres = conf->tres_energy == CONF_ON ? TRES_UNASKED : TRES_OFF;
    TAILQ_INIT(&settler->list);
    if (worker_open(&settler->worker, run_settler, settler, err) < 0) {
        free(settler);
        return -1;
    }
    *out = settler;
    return 0;
}

void settler_close(struct settler *settler)
{
    if (!settler || !worker_close(&settler->worker))
        return;
    settle_list_free(&settler->list);
    free(settler);
}

static void put(struct settler *settler, const struct ledger_run *run, double due_s)
{
    struct berth_error err;

    worker_lock(&settler->worker);
    if (settle_list_put(&settler->list, run, due_s, &err) < 0)
        log_warn("job %u: %s", run->job, err.text);
    worker_changed(&settler->worker);
    worker_unlock(&settler->worker);
}

void settler_put(struct settler *settler, const struct ledger_run *run)
{
    if (settler)
        put(settler, run, clock_s() + FIRST_TRY_S);
}

struct resume {
    struct settler *settler;
    bool (*has_steps)(uint32_t job, const void *arg);
    const void *arg;
};

static void resume_run(const struct ledger_run *run, void *arg)
{
    const struct resume *resume = arg;

    if (!resume->has_steps(run->job, resume->arg))
        put(resume->settler, run, clock_s());
}

void settler_resume(struct settler *settler, bool (*has_steps)(uint32_t job, const void *arg),
                    const void *arg)
{
    struct resume resume = {settler, has_steps, arg};
    struct berth_error err;

    if (settler && ledger_each_run(settler->ledger, resume_run, &resume, &err) < 0)
        log_warn("the jobs of which slurmdbd is still to be told: %s", err.text);
}

bool settler_may_tell_energy(struct settler *settler, char why[256])
{
    bool may;

    worker_lock(&settler->worker);
    may = settler->tres == TRES_TOLD;
    snprintf(why, 256, "%s",
             may                         ? ""
             : settler->tres_why[0]      ? settler->tres_why
             : settler->tres == TRES_OFF ? "tres_energy=off"
                                         : "Slurm has not been asked yet");
    worker_unlock(&settler->worker);
    return may;
}

void settler_job_end(struct settler *settler, uint32_t job)
{
    if (!settler)
        return;
    worker_lock(&settler->worker);
    settle_list_hurry(&settler->list, job, clock_s() + FIRST_TRY_S);
    worker_changed(&settler->worker);
    worker_unlock(&settler->worker);
}
