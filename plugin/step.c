/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step - see step.h */
#include "step.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "evict.h"
#include "job_items.h"
#include "note.h"
#include "preload.h"

#define END_DEADLINE_MS 1000 /* the step is over: nobody waits but the node's cores */

/* ---- what applies, and who hears of it ---- */

static const struct wire_options *step_options(const struct step *step)
{
    return step->asked_any ? &step->asked : &step->site.options;
}

/* To the user's stderr if he wants to know, else to slurmd's log. */
static void step_say(const struct step *step, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void step_say(const struct step *step, const char *format, ...)
{
    const struct wire_options *options = step_options(step);
    char text[1024], name[WIRE_STEP_NAME_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    wire_step_name(step->reg.id, name);
    if (options->verbose || options->require)
        slurm_spank_log("berth: step %s on %s: %s", name, step->reg.node, text);
    else
        slurm_verbose("berth: step %s on %s: %s", name, step->reg.node, text);
}

/* What a user asked for in vain he is told, whether he wants to know or not; of the site's own
 * words nobody is. */
static void step_warn(const struct step *step, const char *text)
{
    char name[WIRE_STEP_NAME_MAX];

    wire_step_name(step->reg.id, name);
    if (step->asked_any)
        slurm_spank_log("berth: step %s on %s: %s", name, step->reg.node, text);
    else
        step_say(step, "%s", text);
}

/* The packer did not place the step: say so, and what follows. */
static void step_say_unplaced(const struct step *step, const char *why)
{
    step_say(step, "%s: %s",
             step_options(step)->require ? "not started, as you required"
                                         : "left where Slurm put it",
             why);
}

static void read_site(struct options_site *site, int argc, char **argv)
{
    struct berth_error err;

    options_site_init(site);
    for (int i = 0; i < argc; i++)
        if (options_site_parse(argv[i], site, &err) < 0)
            slurm_error("berth: plugstack.conf: %s", err.text);
}

void step_open(struct step *step, int argc, char **argv)
{
    memset(step, 0, sizeof(*step));
    read_site(&step->site, argc, argv);
    step->exit_status = -1;
}

/* Writes the path of the file of that name in the folder of the pool. */
static void mark_path(const struct options_site *site, const char *name, char path[PATH_MAX])
{
    int dir = (int)(strrchr(site->socket, '/') - site->socket);

    snprintf(path, PATH_MAX, "%.*s/%s/%s", dir, site->socket, WIRE_POOL_DIR, name);
}

/* Is there such a file? */
static bool is_marked(const struct options_site *site, const char *name)
{
    char path[PATH_MAX];

    mark_path(site, name, path);
    return access(path, F_OK) == 0;
}

/* Is there one of that kind for the job? */
static bool job_is_marked(const struct options_site *site, uint32_t job, const char *suffix)
{
    char name[32];

    snprintf(name, sizeof(name), "%u%s", job, suffix);
    return is_marked(site, name);
}

/* berthd keeps a file named by its number for each job in the pool. */
static bool job_in_pool(const struct options_site *site, uint32_t job)
{
    return job_is_marked(site, job, "");
}

/* ---- the start ---- */

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Finds the program within half of the deadline; what that took is taken from the registration's:
 * a step starts no later than by the deadline, whatever hangs. */
static void step_read_program(struct step *step, spank_t spank)
{
    unsigned limit_ms = step->site.deadline_ms / 2;
    double began_s = now_s(), spent_ms;

    job_items_read_program(spank, &step->reg, &step->texts, limit_ms);
    spent_ms = (now_s() - began_s) * 1e3;
    step->ask_deadline_ms =
        step->site.deadline_ms - (spent_ms < limit_ms ? (unsigned)spent_ms : limit_ms);
}

void step_prepare(struct step *step, spank_t spank)
{
    struct berth_error err;

    if (step->prepared || step->task)
        return;
    step->reg.options = *step_options(step);
    step->reg.asked = step->asked_any;
    if (job_items_read(spank, &step->reg, &step->texts, &step->ntasks, &err) < 0) {
        step_say_unplaced(step, err.text);
        return;
    }
    if (step->reg.id.step == WIRE_STEP_EXTERN || step->ntasks == 0)
        return;
    step->ask_deadline_ms = step->site.deadline_ms;
    step->task = calloc(step->ntasks, sizeof(*step->task));
    if (step->task && step->reg.options.mode != WIRE_MODE_OFF) {
        step_read_program(step, spank);
        step->page = apply_page_create(step->ntasks);
    }
    step->prepared = step->task && (step->page || step->reg.options.mode == WIRE_MODE_OFF);
    if (!step->prepared)
        step_say_unplaced(step, "out of memory");
}

/* Writes the registration with the tasks' pids, for the caller to free reg->task. 0, or -1. */
static int step_write(const struct step *step, struct wire_register *reg)
{
    *reg = step->reg;
    reg->task = calloc(step->ntasks, sizeof(*reg->task));
    reg->ntasks = step->ntasks;
    if (!reg->task)
        return -1;
    for (size_t i = 0; i < step->ntasks; i++)
        reg->task[i] = (struct wire_task){.id = (uint32_t)i, .pid = step->task[i].pid};
    return 0;
}

/* Send the registration. */
static enum client_result step_register(struct step *step, struct wire_answer *answer,
                                        struct berth_error *err)
{
    struct wire_request request = {.op = WIRE_OP_REGISTER};
    enum client_result result;

    step->reg.began_s = now_s();
    if (step_write(step, &request.reg) < 0) {
        berth_no_memory(err);
        return CLIENT_UNREACHED;
    }
    result = client_ask(step->site.socket, step->ask_deadline_ms, &request, answer, err);
    free(request.reg.task);
    return result;
}

/* Keeps the answer for the tasks. What is refused of it slurmd's log has, once a step. */
static void step_keep(struct step *step, const struct wire_answer *answer)
{
    const char *refused = apply_page_fill(step->page, answer);
    char name[WIRE_STEP_NAME_MAX];

    wire_step_name(step->reg.id, name);
    if (refused)
        slurm_info("berth: step %s on %s: berthd answered %s for the environment, which this "
                   "plugin sets for nobody",
                   name, step->reg.node, refused);
}

/* berthd has not answered: whoever stands on the tasks' cores is sent home (evict.h). */
static void step_evict(const struct step *step)
{
    struct cpus own = {0}, cpus;
    char path[PATH_MAX];
    size_t sent;

    for (size_t i = 0; i < step->ntasks; i++)
        if (step->task[i].pid > 0 &&
            sched_getaffinity(step->task[i].pid, sizeof(cpus.word), (cpu_set_t *)cpus.word) == 0)
            cpus_or(&own, &cpus);
    mark_path(&step->site, WIRE_IDLE_MARK, path);
    sent = evict_from(&own, path);
    if (sent == 0)
        return;
    mark_path(&step->site, WIRE_SENT_MARK, path);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    slurm_info("berth: berthd does not answer: %zu threads of other steps were sent home from "
               "the CPUs of step %u.%u",
               sent, step->reg.id.job, step->reg.id.step);
}

/* Ask berthd, once, when all tasks are there. */
static void step_ask(struct step *step)
{
    struct wire_answer answer;
    struct berth_error err;
    enum client_result result;

    if (step->asked_packer)
        return;
    step->asked_packer = true;
    result = step_register(step, &answer, &err);
    step->known = result == CLIENT_ANSWERED && answer.ok;
    step->end_deadline_ms = result == CLIENT_ANSWERED ? END_DEADLINE_MS : step->site.deadline_ms;
    if (result != CLIENT_ANSWERED) {
        step_evict(step);
        step_say_unplaced(step, err.text);
    } else if (!answer.ok)
        step_say_unplaced(step, answer.error);
    else if (step->page)
        step_keep(step, &answer);
    if (result == CLIENT_ANSWERED && answer.ok && answer.warning[0])
        step_warn(step, answer.warning);
    if (result == CLIENT_ANSWERED)
        wire_answer_clear(&answer);
}

/* Has whoever stands on the job's cores leave them, before its tasks run. */
static void step_claim(const struct step *step)
{
    struct wire_request request = {.op = WIRE_OP_CLAIM, .id = step->reg.id};
    struct wire_answer answer;
    struct berth_error err;
    double began_s = now_s();

    if (client_ask(step->site.socket, step->site.deadline_ms, &request, &answer, &err) ==
        CLIENT_ANSWERED) {
        wire_answer_clear(&answer);
        slurm_verbose("berth: its cores were free after %.3f ms", 1e3 * (now_s() - began_s));
        return;
    }
    slurm_verbose("berth: its cores not asked for: %s", err.text);
    step_evict(step);
}

/* Are the pids of all tasks known? */
static bool step_complete(const struct step *step)
{
    for (size_t i = 0; i < step->ntasks; i++)
        if (step->task[i].pid <= 0)
            return false;
    return true;
}

/* The local id of the task that a callback is about; -1 when Slurm does not say it or it is none of
 * ours. */
static int task_id(const struct step *step, spank_t spank)
{
    int id = -1;

    if (!step->prepared || spank_get_item(spank, S_TASK_ID, &id) != ESPANK_SUCCESS || id < 0 ||
        (size_t)id >= step->ntasks)
        return -1;
    return id;
}

void step_forked(struct step *step, spank_t spank)
{
    int id = task_id(step, spank);
    pid_t pid = -1;

    if (id < 0 || spank_get_item(spank, S_TASK_PID, &pid) != ESPANK_SUCCESS)
        return;
    step->task[id].pid = pid;
    if ((size_t)id + 1 < step->ntasks)
        return;
    /* A step that did not opt in is none of berthd's business unless its job's cores are in the
     * pool, or somebody may stand on them while they are nobody's. */
    if (step->reg.options.mode == WIRE_MODE_OFF && !job_in_pool(&step->site, step->reg.id.job)) {
        if (is_marked(&step->site, WIRE_IDLE_MARK))
            step_claim(step);
        return;
    }
    if (step_complete(step))
        step_ask(step);
    else
        step_say_unplaced(step, "Slurm does not say which tasks it has");
}

/* ---- in the task ---- */

/* Say where this task runs, to a user who asked. */
static void step_say_place(const struct step *step, int id)
{
    struct cpus cpus;
    char list[256];

    if (!step_options(step)->verbose || apply_get_affinity(&cpus) < 0 ||
        cpus_format(&cpus, list, sizeof(list)) < 0)
        return;
    step_say(step, "task %d on CPU %s: %s", id, list, apply_page_note(step->page));
}

/* Has the task's threads follow the step's page, where the answer has one. */
static void step_preload(const struct step *step, spank_t spank, int id, bool applied)
{
    const char *page = applied ? apply_page_runtime(step->page) : NULL;
    struct berth_error err;
    char text[1024];

    if (preload_task(spank, page, &err) == 0 || id != 0)
        return;
    snprintf(text, sizeof(text), "its threads do not follow: %s", err.text);
    step_warn(step, text);
}

int step_task_init(struct step *step, spank_t spank)
{
    int id = task_id(step, spank), rc = -1;
    struct berth_error err;

    if (id >= 0 && apply_page_answered(step->page)) {
        rc = apply_task(spank, step->page, (uint32_t)id, &err);
        if (rc < 0)
            step_say(step, "task %d stays where Slurm put it: %s", id, err.text);
        else
            step_say_place(step, id);
    }
    step_preload(step, spank, id, rc == 0);
    return step_options(step)->require && step_options(step)->mode != WIRE_MODE_OFF ? rc : 0;
}

/* ---- the end ---- */

/* How bad a wait status is: any signal is worse than any exit code. */
static int severity(int status)
{
    if (status < 0)
        return -1;
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* Tell berthd that the step is over, once, and wait: it clears the cores of a job that has no other
 * step. A step that it may not know is registered in the same breath, lest its record is missing.
 */
static void step_end(struct step *step)
{
    struct wire_request request = {.op = WIRE_OP_END,
                                   .end = {.id = step->reg.id,
                                           .exit_status = step->exit_status,
                                           .user_s = -1,
                                           .system_s = -1,
                                           .ended_s = now_s()}};
    struct wire_register late = {0};
    struct wire_answer answer;
    struct berth_error err;
    struct rusage usage;
    enum client_result result;

    if (!step->end_deadline_ms)
        return;
    if (!step->known && step_write(step, &late) == 0)
        request.end.late = &late;
    if (getrusage(RUSAGE_CHILDREN, &usage) == 0) {
        request.end.user_s = seconds(usage.ru_utime);
        request.end.system_s = seconds(usage.ru_stime);
        request.end.maxrss_kib = (uint64_t)usage.ru_maxrss;
    }
    result = client_ask(step->site.socket, step->end_deadline_ms, &request, &answer, &err);
    if (result == CLIENT_ANSWERED)
        wire_answer_clear(&answer);
    else
        slurm_verbose("berth: end not told: %s", err.text);
    if (result == CLIENT_UNREACHED && request.end.late)
        note_leave(step->site.socket, &request); /* for the berthd to come */
    free(late.task);
    step->end_deadline_ms = 0;
}

void step_exited(struct step *step, spank_t spank)
{
    int id = task_id(step, spank), status = -1;

    if (id < 0 || step->task[id].exited)
        return;
    step->task[id].exited = true;
    step->nexited++;
    if (spank_get_item(spank, S_TASK_EXIT_STATUS, &status) == ESPANK_SUCCESS &&
        severity(status) > severity(step->exit_status))
        step->exit_status = status;
    if (step->nexited == step->ntasks)
        step_end(step);
}

void step_close(struct step *step)
{
    step_end(step);
    apply_page_free(step->page);
    free(step->task);
    step->page = NULL;
    step->task = NULL;
    step->prepared = false;
}

void step_job_epilog(spank_t spank, int argc, char **argv)
{
    struct wire_request request = {.op = WIRE_OP_JOB_END, .job_end = {.id.step = UINT32_MAX}};
    struct options_site site;
    struct wire_answer answer;
    struct berth_error err;

    read_site(&site, argc, argv);
    if (spank_get_item(spank, S_JOB_ID, &request.id.job) != ESPANK_SUCCESS ||
        !(job_in_pool(&site, request.id.job) ||
          job_is_marked(&site, request.id.job, WIRE_WATCH_SUFFIX)))
        return;
    job_items_read_epilog(&request.job_end.said);
    if (client_ask(site.socket, END_DEADLINE_MS, &request, &answer, &err) == CLIENT_ANSWERED)
        wire_answer_clear(&answer);
    else
        slurm_error("berth: the cores of job %u may not be clear: %s", request.id.job, err.text);
}
