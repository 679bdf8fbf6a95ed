/* SPDX-License-Identifier: GPL-2.0-or-later */
/* asker - see asker.h
 *
 * A question is in one list from asker_ask() until its answer is taken. While the program runs, the
 * mutex is let go: questions can be added meanwhile, and only the thread takes any away. */
#include "packer/identity/asker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/log.h"
#include "packer/base/worker.h"
#include "packer/system/run_program.h"

#define SOON_S 0.1    /* somebody waits: what comes in this time is asked for together */
#define LATER_S 1.0   /* nobody does */
#define SPREAD_S 0.01 /* for each node of the job */
#define SPREAD_LIMIT_S 60
#define TOGETHER_S 0.5 /* what is due so soon after is asked for, too */
#define RETRY_LIMIT_S 300
#define RUN_LIMIT_S 40 /* berth-job gives up by itself before */
#define REPLY_BYTES 65536

struct question {
    TAILQ_ENTRY(question) link;
    struct asker_answer answer;
    double asked_s, due_s, delay_s; /* delay_s: before it is tried again */
    bool done;
};

TAILQ_HEAD(question_list, question);

struct asker {
    char program[PATH_MAX];
    int fd;               /* eventfd: not 0 while there is an answer */
    struct worker worker; /* its mutex guards what follows */
    struct question_list list;
    size_t n;
    double next_s; /* the program is not started before */
    uint32_t seed;
    struct asker_state state;
};

/* ---- the thread ---- */

static void question_answered(struct asker *asker, struct question *question)
{
    question->done = true;
    asker->state.answered += question->answer.said.is.source != WIRE_SOURCE_NONE;
    eventfd_write(asker->fd, 1);
}

/* Tries again later, unless that was done for long enough. */
static void put_off(struct asker *asker, struct question *question, const char *why)
{
    double now_s = clock_s();

    snprintf(question->answer.said.why, sizeof(question->answer.said.why), "%.127s", why);
    if (now_s - question->asked_s > ASKER_PATIENCE_S) {
        question_answered(asker, question);
        return;
    }
    question->due_s = now_s + question->delay_s;
    question->delay_s = fmin(2 * question->delay_s, RETRY_LIMIT_S);
}

static bool is_of(const struct question *question, const struct said_job *said)
{
    return said->is.job == question->answer.run.job && said->is.uid == question->answer.run.uid &&
           said->is.source != WIRE_SOURCE_NONE;
}

/* Gives a question what the program said of its job. A job of that number that is another user's is
 * not the one; slurmdbd has a new job as root's for a moment. */
static void take_reply(struct asker *asker, struct question *question, const struct said_job *said,
                       int n)
{
    const char *why = "nobody knows it";

    for (int i = 0; i < n; i++) {
        if (is_of(question, &said[i])) {
            question->answer.said = said[i];
            question_answered(asker, question);
            return;
        }
        if (said[i].is.job == question->answer.run.job)
            why = said[i].is.source == WIRE_SOURCE_NONE ? said[i].why : "it is another user's";
    }
    put_off(asker, question, why);
}

/* Runs the program. Returns how many jobs it told of, or -1 with *why. */
static int run_once(struct asker *asker, struct question *const *question, size_t n,
                    struct said_job *said, char why[256])
{
    static char line[REPLY_BYTES]; /* one thread runs this */
    char word[SAID_JOBS_MAX][40], *argv[SAID_JOBS_MAX + 2];
    struct berth_error err;
    int status, count;

    argv[0] = asker->program;
    for (size_t i = 0; i < n; i++) {
        const struct asker_run *run = &question[i]->answer.run;

        snprintf(word[i], sizeof(word[i]), "%u@%lld", run->job, (long long)run->at);
        argv[i + 1] = word[i];
    }
    argv[n + 1] = NULL;
    status = run_program(argv, RUN_FIRST_OUTPUT, RUN_LIMIT_S, &asker->worker.stopping, line,
                         sizeof(line));
    count = line[0] == '{' ? said_read(line, said, &err) : -1;
    if (count >= 0 && status == 0)
        return count;
    if (count > 0 && said[0].why[0])
        snprintf(why, 256, "%s", said[0].why);
    else if (line[0] == '{' && count < 0)
        snprintf(why, 256, "%.100s: %.150s", asker->program, err.text);
    else
        snprintf(why, 256, "%.255s",
                 line[0] && line[0] != '{' ? line : "berth-job gives no answer");
    return -1;
}

/* Tells once that nobody answers, and once that somebody does again. The mutex is held. */
static void note(struct asker *asker, const char *why)
{
    bool failed = why[0] != '\0';

    if (failed && !asker->state.why[0])
        log_warn("nobody says who the jobs are: %s; to be tried again", why);
    if (!failed && asker->state.why[0])
        log_info("slurmctld says again who the jobs are");
    asker->state.failed += failed;
    snprintf(asker->state.why, sizeof(asker->state.why), "%s", why);
}

static size_t take_due(struct asker *asker, struct question **due)
{
    double until_s = clock_s() + TOGETHER_S;
    struct question *question;
    size_t n = 0;

    TAILQ_FOREACH(question, &asker->list, link)
    if (!question->done && question->due_s <= until_s && n < SAID_JOBS_MAX)
        due[n++] = question;
    return n;
}

/* Asks for what is due. The mutex is held, but not while the program runs. */
static void turn(struct asker *asker)
{
    static struct said_job said[SAID_JOBS_MAX]; /* one thread runs this */
    struct question *due[SAID_JOBS_MAX];
    size_t n = take_due(asker, due);
    char why[256] = "";
    int count;

    asker->next_s = clock_s() + ASKER_EVERY_S;
    worker_unlock(&asker->worker);
    count = run_once(asker, due, n, said, why);
    worker_lock(&asker->worker);
    if (asker->worker.stopping)
        return;
    log_debug("asked who %zu jobs are, the first one %u: %s", n, due[0]->answer.run.job,
              count < 0 ? why : "answered");
    note(asker, count < 0 ? why : "");
    for (size_t i = 0; i < n; i++)
        if (count < 0)
            put_off(asker, due[i], why);
        else
            take_reply(asker, due[i], said, count);
    worker_changed(&asker->worker); /* asker_hurry() waits for it */
}

/* When the program is to be started next; INFINITY: there is nothing to ask. */
static double next_due(const struct asker *asker)
{
    const struct question *question;
    double due_s = INFINITY;

    TAILQ_FOREACH(question, &asker->list, link)
    if (!question->done && question->due_s < due_s)
        due_s = question->due_s;
    return fmax(due_s, asker->next_s);
}

static void ask_questions(void *arg)
{
    struct asker *asker = arg;

    while (!asker->worker.stopping) {
        double due_s = next_due(asker);

        if (due_s <= clock_s())
            turn(asker);
        else
            worker_wait_until(&asker->worker, due_s);
    }
}

/* ---- the event loop's side ---- */

int asker_open(struct asker **out, const struct conf *conf, struct berth_error *err)
{
    const char *program = conf->job_program[0] ? conf->job_program : PKGLIBEXECDIR "/berth-job";
    struct asker *asker;

    *out = NULL;
    if (strcmp(conf->job_program, "off") == 0)
        return 0;
    if (access(program, X_OK) < 0)
        return berth_error_set(err, "%.200s: %m", program);
    asker = calloc(1, sizeof(*asker));
    if (!asker)
        return berth_no_memory(err);
    snprintf(asker->program, sizeof(asker->program), "%s", program);
    TAILQ_INIT(&asker->list);
    asker->seed = (uint32_t)getpid() ^ (uint32_t)(clock_s() * 1e6);
    asker->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (asker->fd >= 0 && worker_open(&asker->worker, ask_questions, asker, err) == 0) {
        *out = asker;
        return 0;
    }
    if (asker->fd < 0)
        berth_error_set(err, "eventfd: %m");
    else
        close(asker->fd);
    free(asker);
    return -1;
}

void asker_close(struct asker *asker)
{
    struct question *question;

    if (!asker || !worker_close(&asker->worker))
        return;
    while ((question = TAILQ_FIRST(&asker->list))) {
        TAILQ_REMOVE(&asker->list, question, link);
        free(question);
    }
    close(asker->fd);
    free(asker);
}

int asker_fd(const struct asker *asker)
{
    return asker ? asker->fd : -1;
}

/* How long a question may wait: nodes of one job ask at different times. */
static double delay_of(struct asker *asker, uint32_t nodes, bool urgent)
{
    double spread_s = nodes > 1 ? fmin(nodes * SPREAD_S, SPREAD_LIMIT_S) : 0;

    return (urgent ? SOON_S : LATER_S) + spread_s * rand_r(&asker->seed) / RAND_MAX;
}

static struct question *question_of(const struct asker *asker, const struct asker_run *run)
{
    struct question *question;

    TAILQ_FOREACH(question, &asker->list, link)
    if (question->answer.run.job == run->job && question->answer.run.at == run->at)
        return question;
    return NULL;
}

static struct question *add(struct asker *asker, const struct asker_run *run)
{
    struct question *question =
        asker->n < ASKER_QUESTIONS_MAX ? calloc(1, sizeof(*question)) : NULL;

    if (!question)
        return NULL;
    question->answer.run = *run;
    question->asked_s = clock_s();
    question->due_s = INFINITY;
    question->delay_s = ASKER_EVERY_S;
    TAILQ_INSERT_TAIL(&asker->list, question, link);
    asker->n++;
    asker->state.asked++;
    return question;
}

bool asker_ask(struct asker *asker, const struct asker_run *run, uint32_t nodes, bool urgent)
{
    struct question *question;

    if (!asker)
        return false;
    worker_lock(&asker->worker);
    question = question_of(asker, run);
    if (!question)
        question = add(asker, run);
    if (question) {
        question->due_s = fmin(question->due_s, clock_s() + delay_of(asker, nodes, urgent));
        worker_changed(&asker->worker);
    }
    worker_unlock(&asker->worker);
    return question != NULL;
}

/* Is there a question that was not asked since asker_hurry() made it due? */
static bool waits(const struct asker *asker)
{
    const struct question *question;

    TAILQ_FOREACH(question, &asker->list, link)
    if (!question->done && question->due_s == 0)
        return true;
    return false;
}

void asker_hurry(struct asker *asker, double patience_s)
{
    double until_s = clock_s() + patience_s;
    struct question *question;

    if (!asker)
        return;
    worker_lock(&asker->worker);
    TAILQ_FOREACH(question, &asker->list, link) question->due_s = 0;
    asker->next_s = 0;
    worker_changed(&asker->worker);
    while (waits(asker) && worker_wait_until(&asker->worker, until_s))
        ;
    worker_unlock(&asker->worker);
}

bool asker_take(struct asker *asker, struct asker_answer *answer)
{
    struct question *question;
    eventfd_t none;

    if (!asker)
        return false;
    worker_lock(&asker->worker);
    TAILQ_FOREACH(question, &asker->list, link)
    if (question->done)
        break;
    if (question) {
        *answer = question->answer;
        TAILQ_REMOVE(&asker->list, question, link);
        asker->n--;
    } else {
        eventfd_read(asker->fd, &none);
    }
    worker_unlock(&asker->worker);
    free(question);
    return question != NULL;
}

void asker_state(struct asker *asker, struct asker_state *state)
{
    *state = (struct asker_state){0};
    if (!asker)
        return;
    worker_lock(&asker->worker);
    *state = asker->state;
    worker_unlock(&asker->worker);
}
