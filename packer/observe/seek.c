/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seek - see seek.h */
#include "packer/observe/seek.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "packer/base/file.h"
#include "packer/base/log.h"
#include "packer/base/worker.h"
#include "packer/observe/classify.h"
#include "packer/observe/known_pairs.h"
#include "packer/observe/ranks_look.h"
#include "packer/steps/journal.h"
#include "packer/steps/packer.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"
#include "packer/system/process.h"
#include "packer/system/process_exe.h"
#include "packer/wire/wire_program.h"

#define LOOKED_AT 16   /* processes, those that have worked most, whose executable is read */
#define SOON_S 0.2     /* an answer is looked for, if nobody comes sooner */
#define LOOKS_APART 64 /* windows between two looks, at most */

struct question {
    STAILQ_ENTRY(question) link;
    bool of_ranks;             /* it asks who its ranks are: */
    struct ranks_found *ranks; /* the answer; NULL: no memory; else for its program: */
    struct seek_answer answer;
    size_t n;
    pid_t pid[];
};
STAILQ_HEAD(questions, question);

struct seeker {
    const struct rootfs *root;
    bool running;         /* the worker, from the first question on */
    bool refused;         /* there is no thread to be had: nobody looks */
    struct worker worker; /* its mutex guards what follows */
    struct questions asked, answered;
    size_t waiting;
};

/* ---- the thread ---- */

struct worked {
    pid_t pid;
    uint64_t started;
    double cpu_ns;
    char exe[PATH_MAX];
};

static int by_work(const void *a, const void *b)
{
    double left = ((const struct worked *)a)->cpu_ns, right = ((const struct worked *)b)->cpu_ns;

    return (left < right) - (left > right);
}

/* Reads what each has worked. Returns how many there are. */
static size_t read_work(const struct rootfs *root, const struct question *question,
                        struct worked *worked)
{
    size_t n = 0;

    for (size_t i = 0; i < question->n; i++) {
        struct process_stat stat;

        if (process_stat_get(root, question->pid[i], &stat) < 0 || stat.zombie)
            continue;
        worked[n].pid = question->pid[i];
        worked[n].started = stat.started;
        worked[n++].cpu_ns = stat.user_ns + stat.system_ns;
    }
    qsort(worked, n, sizeof(*worked), by_work);
    return n;
}

/* The work of all processes that run the same as this one. */
static double work_of(const struct worked *worked, size_t n, const char *exe)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        if (strcmp(worked[i].exe, exe) == 0)
            sum += worked[i].cpu_ns;
    return sum;
}

/* Returns the process whose executable has worked most; NULL: there is none but such as wait for
 * others. */
static const struct worked *choose(const struct worked *worked, size_t n)
{
    const struct worked *most = NULL;
    double work = 0;

    for (size_t i = 0; i < n; i++) {
        const char *exe = worked[i].exe;

        if (!exe[0] || (wire_program_starts_others(exe) && !wire_program_interprets(exe)))
            continue;
        if (work_of(worked, n, exe) > work) {
            work = work_of(worked, n, exe);
            most = &worked[i];
        }
    }
    return most;
}

/* Fills in the hash of a program, none of an interpreter: what it runs, nobody knows. */
static void hash_it(const struct rootfs *root, const struct worked *worked,
                    char hash[WIRE_HASH_MAX])
{
    char path[64];
    int fd = -1;

    hash[0] = '\0';
    if (worked->exe[0] != '/' || wire_program_interprets(worked->exe) ||
        (fd = process_exe_open(root, worked->pid)) < 0)
        return;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (wire_program_hash(path, hash) < 0 || process_started(root, worked->pid) != worked->started)
        hash[0] = '\0';
    file_close(fd);
}

/* Looks; without the mutex. */
static void look(const struct rootfs *root, struct question *question)
{
    struct worked *worked = calloc(question->n + 1, sizeof(*worked));
    size_t n = worked ? read_work(root, question, worked) : 0;
    const struct worked *most;

    if (n > LOOKED_AT)
        n = LOOKED_AT;
    for (size_t i = 0; i < n; i++)
        process_exe_read(root, worked[i].pid, worked[i].exe);
    most = choose(worked, n);
    if (most) {
        snprintf(question->answer.exe, sizeof(question->answer.exe), "%s", most->exe);
        hash_it(root, most, question->answer.hash);
    }
    free(worked);
}

/* The thread: looks for one step after another. */
static void look_for_all(void *arg)
{
    struct seeker *seeker = arg;

    while (!seeker->worker.stopping) {
        struct question *question = STAILQ_FIRST(&seeker->asked);

        if (!question) {
            worker_wait_until(&seeker->worker, INFINITY);
            continue;
        }
        STAILQ_REMOVE_HEAD(&seeker->asked, link);
        worker_unlock(&seeker->worker);
        if (question->of_ranks)
            question->ranks = ranks_look(seeker->root, question->pid, question->n);
        else
            look(seeker->root, question);
        worker_lock(&seeker->worker);
        STAILQ_INSERT_TAIL(&seeker->answered, question, link);
        worker_changed(&seeker->worker);
    }
}

/* ---- the event loop's side ---- */

struct seeker *seek_open(const struct rootfs *root)
{
    struct seeker *seeker = calloc(1, sizeof(*seeker));

    if (!seeker)
        return NULL;
    seeker->root = root;
    STAILQ_INIT(&seeker->asked);
    STAILQ_INIT(&seeker->answered);
    return seeker;
}

/* Starts the thread, once. */
static bool runs(struct seeker *seeker)
{
    struct berth_error err;

    if (seeker->running || seeker->refused)
        return seeker->running;
    seeker->running = worker_open(&seeker->worker, look_for_all, seeker, &err) == 0;
    seeker->refused = !seeker->running;
    if (seeker->refused)
        log_warn("which programs use the CPUs of batch scripts is not looked for: %s", err.text);
    return seeker->running;
}

static void drop_all(struct questions *questions)
{
    struct question *question;

    while ((question = STAILQ_FIRST(questions))) {
        STAILQ_REMOVE_HEAD(questions, link);
        free(question->ranks);
        free(question);
    }
}

void seek_close(struct seeker *seeker)
{
    if (!seeker || (seeker->running && !worker_close(&seeker->worker)))
        return;
    drop_all(&seeker->asked);
    drop_all(&seeker->answered);
    free(seeker);
}

/* Has a question wait for the thread, which takes it over. */
static bool put(struct seeker *seeker, struct question *question)
{
    bool asked;

    worker_lock(&seeker->worker);
    asked = seeker->waiting < SEEK_WAITING;
    if (asked) {
        STAILQ_INSERT_TAIL(&seeker->asked, question, link);
        seeker->waiting++;
        worker_changed(&seeker->worker);
    }
    worker_unlock(&seeker->worker);
    if (!asked)
        free(question);
    return asked;
}

static bool ask_about(struct seeker *seeker, uint64_t serial, bool ranks, const pid_t *pid,
                      size_t n)
{
    struct question *question =
        runs(seeker) ? calloc(1, sizeof(*question) + n * sizeof(*pid)) : NULL;

    if (!question)
        return false;
    question->answer.serial = serial;
    question->of_ranks = ranks;
    question->n = n;
    if (n)
        memcpy(question->pid, pid, n * sizeof(*pid));
    return put(seeker, question);
}

bool seek_ask(struct seeker *seeker, uint64_t serial, const pid_t *pid, size_t n)
{
    return ask_about(seeker, serial, false, pid, n < SEEK_PROCESSES ? n : SEEK_PROCESSES);
}

bool seek_ask_ranks(struct seeker *seeker, uint64_t serial, const pid_t *pid, size_t n)
{
    return ask_about(seeker, serial, true, pid, n < SEEK_RANKS_OF ? n : SEEK_RANKS_OF);
}

/* Takes the first answer of that kind out of the list; NULL: there is none. */
static struct question *take_answered(struct seeker *seeker, bool of_ranks)
{
    struct question *question = NULL;

    if (!seeker->running)
        return NULL;
    worker_lock(&seeker->worker);
    STAILQ_FOREACH(question, &seeker->answered, link)
    if (question->of_ranks == of_ranks)
        break;
    if (question) {
        STAILQ_REMOVE(&seeker->answered, question, question, link);
        seeker->waiting--;
    }
    worker_unlock(&seeker->worker);
    return question;
}

bool seek_take(struct seeker *seeker, struct seek_answer *answer)
{
    struct question *question = take_answered(seeker, false);

    if (question)
        *answer = question->answer;
    free(question);
    return question != NULL;
}

bool seek_take_ranks(struct seeker *seeker, uint64_t *serial, struct ranks_found **found)
{
    struct question *question = take_answered(seeker, true);

    if (question) {
        *serial = question->answer.serial;
        *found = question->ranks;
    }
    free(question);
    return question != NULL;
}

/* ---- the stage ---- */

/* Is it the step's turn? A tag is the last word, and where several programs have taken turns no
 * more is to be learned. */
static bool is_due(const struct step *step, const struct windows *windows)
{
    const struct wire_register *request = &step->request;

    return request->by_cpu && !request->options.tag[0] && windows_have(windows, step) &&
           !step->seek.asked && !step->seek.mixed;
}

/* Asks; the longer the answers are the same, the less often. */
static void ask(struct packer *packer, struct step *step)
{
    pid_t *pid = NULL;
    size_t n = 0;

    if (step->seek.rest > 0) {
        step->seek.rest--;
        return;
    }
    if (enforce_step_pids(&packer->enforce, &step->body, &pid, &n) < 0)
        return;
    step->seek.asked = seek_ask(packer->seeker, step->serial, pid, n);
    free(pid);
    if (step->seek.asked && packer->wake)
        packer->wake(packer->wake_arg, SOON_S);
}

/* The step's program is another one, or is known now. */
static void take_over(struct packer *packer, struct step *step, const char *exe, const char *hash)
{
    if (program_found(packer, step, exe, hash) < 0)
        return; /* for want of memory: it stays what it was */
    known_pairs_begin(packer, step);
    classify_profile(packer, step);
    classify_step(packer, step);
    classify_knowledge(packer);
    log_debug("step %u.%u: its program is %s", step->request.id.job, step->request.id.step, exe);
    journal_note(packer, step);
}

/* Returns the end of a path, as far as it is kept. */
static const char *tail_of(const char *exe)
{
    size_t length = strlen(exe), kept = sizeof(((struct step_seek *)NULL)->seen) - 1;

    return length > kept ? exe + length - kept : exe;
}

void seek_adopt(struct step *step)
{
    const struct wire_register *request = &step->request;

    step->seek.found = request->by_cpu && request->exe[0] &&
                       !wire_program_starts_others(request->exe) && !strchr(request->exe, ' ');
    if (step->seek.found)
        snprintf(step->seek.seen, sizeof(step->seek.seen), "%s", tail_of(request->exe));
}

/* What was seen twice in a row is the program; what comes later makes it none. */
static void hear(struct packer *packer, struct step *step, const struct seek_answer *answer)
{
    struct step_seek *seek = &step->seek;
    const char *tail = tail_of(answer->exe);

    seek->asked = false;
    if (!answer->exe[0])
        return;
    if (strcmp(seek->seen, tail) != 0) {
        seek->mixed = seek->found;
        if (seek->mixed)
            take_over(packer, step, answer->exe, "");
        snprintf(seek->seen, sizeof(seek->seen), "%s", tail);
        return;
    }
    if (!seek->found)
        take_over(packer, step, answer->exe, answer->hash);
    seek->found = true;
    seek->apart = seek->apart < LOOKS_APART ? 2 * seek->apart + 1 : LOOKS_APART;
    seek->rest = seek->apart;
}

void seek_turn(struct packer *packer, const struct windows *windows)
{
    struct seek_answer answer;
    struct step *step;

    if (!packer->seeker)
        return;
    while (seek_take(packer->seeker, &answer))
        if ((step = registry_find_serial(&packer->steps, answer.serial)))
            hear(packer, step, &answer);
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (is_due(step, windows))
        ask(packer, step);
}

static int open_seeker(struct packer *packer, struct berth_error *err)
{
    (void)err;
    packer->seeker = seek_open(&packer->root);
    return 0;
}

static void close_seeker(struct packer *packer)
{
    seek_close(packer->seeker);
}

static void adopt_program(struct packer *packer, struct step *step)
{
    (void)packer;
    seek_adopt(step);
}

static void ask_turn(struct packer *packer, struct turn *turn)
{
    seek_turn(packer, &turn->windows);
}

const struct stage seek_stage = {
    .name = "seek",
    .open = open_seeker,
    .close = close_seeker,
    .adopt = adopt_program,
    .turn = ask_turn,
};
