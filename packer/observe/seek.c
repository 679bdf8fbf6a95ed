/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seek - see seek.h */
#include "packer/observe/seek.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "packer/base/file.h"
#include "packer/base/log.h"
#include "packer/observe/classify.h"
#include "packer/observe/known_pairs.h"
#include "packer/observe/ranks_look.h"
#include "packer/steps/journal.h"
#include "packer/steps/packer.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"
#include "packer/system/process_exe.h"
#include "packer/system/process_look.h"
#include "packer/system/rootfs.h"
#include "packer/wire/wire_program.h"

#define LOOKED_AT 16   /* processes, those that have worked most, whose executable is read */
#define SOON_S 0.2     /* an answer is looked for, if nobody comes sooner */
#define LOOKS_APART 64 /* windows between two looks, at most */

/* Who is asked for, and the answer: the thread has all of it, whenever it comes back. */
struct question {
    struct rootfs root;        /* whose descriptor is not used once nobody wants the answer */
    struct ranks_found *ranks; /* the answer, of ranks; NULL: no memory */
    struct seek_answer answer; /* of its program */
    size_t n;
    pid_t pid[];
};

/* A question that has not been answered yet. */
struct pending {
    TAILQ_ENTRY(pending) link;
    struct hands_work *work;
    struct seek_step step;
    bool of_ranks; /* it asks who its ranks are; else for its program */
};

struct seeker {
    const struct rootfs *root;
    struct hands *hands;
    TAILQ_HEAD(, pending) pending;
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
        pid_t pid = question->pid[i];
        double user_ns, system_ns;
        struct process_look look;

        if (process_look(root, pid, &look) < 0 || look.exiting ||
            process_cpu(root, pid, &user_ns, &system_ns) < 0)
            continue;
        worked[n].pid = pid;
        worked[n].started = look.started;
        worked[n++].cpu_ns = user_ns + system_ns;
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
    if (wire_program_hash(path, hash) < 0 || !process_is(root, worked->pid, worked->started))
        hash[0] = '\0';
    file_close(fd);
}

static void look(void *arg, struct hands_hand *hand)
{
    struct question *question = arg;
    const struct rootfs *root = &question->root;
    struct worked *worked = calloc(question->n + 1, sizeof(*worked));
    size_t n = worked ? read_work(root, question, worked) : 0;
    const struct worked *most;

    if (n > LOOKED_AT)
        n = LOOKED_AT;
    for (size_t i = 0; i < n && hands_go_on(hand); i++)
        process_exe_read(root, worked[i].pid, worked[i].exe);
    most = hands_go_on(hand) ? choose(worked, n) : NULL;
    if (most) {
        snprintf(question->answer.exe, sizeof(question->answer.exe), "%s", most->exe);
        hash_it(root, most, question->answer.hash);
    }
    free(worked);
}

static void look_for_ranks(void *arg, struct hands_hand *hand)
{
    struct question *question = arg;

    if (hands_go_on(hand))
        question->ranks = ranks_look(&question->root, question->pid, question->n);
}

static void question_free(void *arg)
{
    struct question *question = arg;

    free(question->ranks);
    free(question);
}

static const struct hands_task looking = {look, question_free},
                               looking_for_ranks = {look_for_ranks, question_free};

/* ---- the event loop's side ---- */

struct seeker *seek_open(const struct rootfs *root, double limit_s)
{
    const struct hands_limits limits = {limit_s, HANDS_HUNG_MAX, HANDS_HUNG_USER_MAX};
    struct seeker *seeker = calloc(1, sizeof(*seeker));

    if (!seeker)
        return NULL;
    seeker->root = root;
    TAILQ_INIT(&seeker->pending);
    seeker->hands = hands_open("look who uses the CPUs of batch scripts", &limits);
    if (seeker->hands)
        return seeker;
    free(seeker);
    return NULL;
}

static void forget(struct seeker *seeker, struct pending *pending)
{
    TAILQ_REMOVE(&seeker->pending, pending, link);
    free(pending);
}

void seek_close(struct seeker *seeker)
{
    struct pending *pending;

    if (!seeker)
        return;
    while ((pending = TAILQ_FIRST(&seeker->pending))) {
        hands_drop(seeker->hands, pending->work);
        forget(seeker, pending);
    }
    hands_close(seeker->hands);
    free(seeker);
}

/* May one more of that user's wait for the thread? */
static bool has_room(const struct seeker *seeker, uint32_t user)
{
    const struct pending *pending;
    size_t all = 0, theirs = 0;

    TAILQ_FOREACH(pending, &seeker->pending, link)
    {
        all++;
        theirs += pending->step.user == user;
    }
    return all < SEEK_WAITING && theirs < SEEK_WAITING_USER;
}

static struct question *question_new(const struct seeker *seeker, const pid_t *pid, size_t n)
{
    struct question *question = calloc(1, sizeof(*question) + n * sizeof(*pid));

    if (!question)
        return NULL;
    question->root = *seeker->root;
    question->n = n;
    if (n)
        memcpy(question->pid, pid, n * sizeof(*pid));
    return question;
}

static bool ask_about(struct seeker *seeker, struct seek_step step, bool ranks, const pid_t *pid,
                      size_t n)
{
    struct pending *pending = has_room(seeker, step.user) ? calloc(1, sizeof(*pending)) : NULL;
    struct question *question = pending ? question_new(seeker, pid, n) : NULL;

    if (question)
        pending->work =
            hands_put(seeker->hands, step.user, ranks ? &looking_for_ranks : &looking, question);
    if (!question || !pending->work) {
        free(pending);
        return false;
    }
    pending->step = step;
    pending->of_ranks = ranks;
    TAILQ_INSERT_TAIL(&seeker->pending, pending, link);
    return true;
}

bool seek_ask(struct seeker *seeker, struct seek_step step, const pid_t *pid, size_t n)
{
    return ask_about(seeker, step, false, pid, n < SEEK_PROCESSES ? n : SEEK_PROCESSES);
}

bool seek_ask_ranks(struct seeker *seeker, struct seek_step step, const pid_t *pid, size_t n)
{
    return ask_about(seeker, step, true, pid, n < SEEK_RANKS_OF ? n : SEEK_RANKS_OF);
}

/* Takes the first answer of that kind; *question: what was found, or NULL. */
static bool take_answered(struct seeker *seeker, bool of_ranks, struct seek_answer *answer,
                          struct question **question)
{
    struct pending *pending;
    enum hands_state state = HANDS_WAIT;

    TAILQ_FOREACH(pending, &seeker->pending, link)
    if (pending->of_ranks == of_ranks &&
        (state = hands_look(seeker->hands, pending->work)) != HANDS_WAIT)
        break;
    if (!pending)
        return false;
    *question = state == HANDS_DONE ? hands_take(seeker->hands, pending->work) : NULL;
    if (!*question)
        hands_drop(seeker->hands, pending->work);
    if (*question)
        *answer = (*question)->answer;
    else
        answer->exe[0] = answer->hash[0] = '\0';
    answer->serial = pending->step.serial;
    answer->state = state;
    forget(seeker, pending);
    return true;
}

bool seek_take(struct seeker *seeker, struct seek_answer *answer)
{
    struct question *question;

    if (!take_answered(seeker, false, answer, &question))
        return false;
    free(question);
    return true;
}

bool seek_take_ranks(struct seeker *seeker, struct seek_answer *answer, struct ranks_found **found)
{
    struct question *question;

    if (!take_answered(seeker, true, answer, &question))
        return false;
    *found = question ? question->ranks : NULL;
    free(question);
    return true;
}

/* ---- the stage ---- */

/* Is it the step's turn? A tag is the last word, and where several programs have taken turns no
 * more is to be learned. */
static bool is_due(const struct step *step, const struct windows *windows)
{
    const struct wire_register *request = &step->request;

    return request->by_cpu && !request->options.tag[0] && windows_have(windows, step) &&
           !step->seek.asked && !step->seek.mixed && step->seek.looked != HANDS_HUNG;
}

struct seek_step seek_step(const struct step *step)
{
    return (struct seek_step){step->serial, step->request.uid};
}

void seek_said(struct step *step, enum hands_state *looked, enum hands_state state,
               const char *what)
{
    if (state == HANDS_HUNG)
        log_warn("step %u.%u: a thread that looked for %s does not come back: nobody looks any "
                 "more",
                 step->request.id.job, step->request.id.step, what);
    *looked = state;
}

/* Asks; the longer the answers are the same, the less often. */
static void ask(const struct packer *packer, struct step *step)
{
    pid_t *pid = NULL;
    size_t n = 0;

    if (step->seek.rest > 0) {
        step->seek.rest--;
        return;
    }
    if (enforce_step_pids(packer->world.enforce, &step->body, &pid, &n) < 0)
        return;
    step->seek.asked = seek_ask(packer->state->seeker, seek_step(step), pid, n);
    free(pid);
    if (step->seek.asked)
        packer_wake(packer, SOON_S);
}

/* The step's program is another one, or is known now. */
static void take_over(const struct packer *packer, struct step *step, const char *exe,
                      const char *hash)
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

/* A step that was adopted has the program that an earlier berthd has found. */
static void seek_adopt(const struct packer *packer, struct step *step)
{
    const struct wire_register *request = &step->request;

    (void)packer;
    step->seek.found = request->by_cpu && request->exe[0] &&
                       !wire_program_starts_others(request->exe) && !strchr(request->exe, ' ');
    if (step->seek.found)
        snprintf(step->seek.seen, sizeof(step->seek.seen), "%s", tail_of(request->exe));
}

/* What was seen twice in a row is the program; what comes later makes it none. */
static void hear(const struct packer *packer, struct step *step, const struct seek_answer *answer)
{
    struct step_seek *seek = &step->seek;
    const char *tail = tail_of(answer->exe);

    seek->asked = false;
    seek_said(step, &seek->looked, answer->state, "its program");
    if (!answer->exe[0])
        return;
    if (strcmp(seek->seen, tail) != 0) {
        seek->mixed = seek->found;
        if (seek->mixed)
            take_over(packer, step, answer->exe, "");
        snprintf(seek->seen, sizeof(seek->seen), "%.*s", (int)sizeof(seek->seen) - 1, tail);
        return;
    }
    if (!seek->found)
        take_over(packer, step, answer->exe, answer->hash);
    seek->found = true;
    seek->apart = seek->apart < LOOKS_APART ? 2 * seek->apart + 1 : LOOKS_APART;
    seek->rest = seek->apart;
}

/* Asks for the steps whose window is over, and takes over what was found. */
static void seek_turn(const struct packer *packer, const struct windows *windows)
{
    struct seek_answer answer;
    struct step *step;

    if (!packer->state->seeker)
        return;
    while (seek_take(packer->state->seeker, &answer))
        if ((step = registry_find_serial(packer->steps, answer.serial)))
            hear(packer, step, &answer);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (is_due(step, windows))
        ask(packer, step);
}

static int open_seeker(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    packer->state->seeker = seek_open(&packer->world.root, SEEK_LIMIT_S);
    return 0;
}

static void close_seeker(const struct packer *packer)
{
    seek_close(packer->state->seeker);
}

static void ask_turn(const struct packer *packer, struct turn *turn)
{
    seek_turn(packer, &turn->windows);
}

const struct stage seek_stage = {
    .name = "seek",
    .open = open_seeker,
    .close = close_seeker,
    .adopt = seek_adopt,
    .turn = ask_turn,
};
