/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_berthd - see day_berthd.h
 *
 * The two processes take turns (day_clock.h): after each message and each advance of the time the
 * bench waits until berthd is idle. The steps' processes are children that sleep. */
#include "tests/bench/day_berthd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/cli/common/ctl.h"
#include "packer/wire/wire_client.h"
#include "tests/bench/day_clock.h"
#include "tests/bench/day_memory.h"
#include "tests/bench/played.h"

#define ANSWER_S 20 /* of real time, for one request */

struct day_berthd {
    struct day_feed feed;
    char socket[PATH_MAX], policy[32];
    pid_t *sleeper; /* [topo->cores] */
    struct played played;
    int64_t idle_until;
    double moves;  /* as berthd counts them */
    double *cpu_s; /* [days] */
};

/* ---- the processes ---- */

static pid_t sleeper_start(void)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

static int sleepers_start(struct day_berthd *berthd, struct berth_error *err)
{
    for (size_t i = 0; i < berthd->feed.sim->topo->cores; i++)
        if ((berthd->sleeper[i] = sleeper_start()) < 0)
            return berth_error_set(err, "%s", strerror(errno));
    return 0;
}

/* ---- the clock ---- */

/* It is sim->now; waits until berthd is idle. */
static int tick(struct day_berthd *berthd, struct berth_error *err)
{
    return played_tick(&berthd->played, berthd->feed.sim->now, &berthd->idle_until, err);
}

/* ---- messages ---- */

/* Sends a request that has one line for an answer. */
static int tell(struct day_berthd *berthd, const struct wire_request *request,
                struct berth_error *err)
{
    struct wire_client *client = wire_client_open(berthd->socket, ANSWER_S);
    char *question = wire_request_encode(request);
    const char *line = "no answer";
    int rc = -1;

    if (client && question && wire_client_send(client, question) == 0 &&
        wire_client_receive(client, &line) >= 0)
        rc = strstr(line, "\"ok\":true") ? 0 : -1;
    if (rc < 0)
        berth_error_set(err, "berthd: %.400s", line);
    free(question);
    wire_client_close(client);
    return rc;
}

/* Takes over where berthd says that a step stands. Returns the job; NULL: it stands there already.
 */
static const struct day_job *take_stand(struct day_sim *sim, struct json_object *step)
{
    size_t job = (size_t)ctl_number(step, "job") - 1, core[CPUS_MAX], n = 0;
    long before = -1;
    struct cpus cpus;

    if (job >= sim->n || cpus_parse(&cpus, ctl_text(step, "cpus")) < 0)
        return NULL;
    cpus_foreach(cpu, &cpus)
    {
        long at = topo_core_of_cpu(sim->topo, cpu);

        if (at >= 0 && at != before)
            core[n++] = (size_t)at;
        before = at;
    }
    if (n != sim->job[job].cores ||
        memcmp(core, sim->job[job].core[DAY_STAND], n * sizeof(*core)) == 0)
        return NULL;
    day_sim_stand(sim, &sim->job[job], core);
    return &sim->job[job];
}

/* Takes over whether the pages of a moved job follow it, and how fast. A berthd that only says what
 * it would do has nothing that moves pages: where it says no other reason against it, they do. */
static int take_order(const struct day_berthd *berthd, struct day_sim *sim,
                      const struct day_job *job, struct berth_error *err)
{
    struct wire_request request = {.op = WIRE_OP_EXPLAIN, .id = {job->id, 0}};
    struct json_object *answer = ctl_ask(berthd->socket, &request, err), *memory;
    const char *reason;

    if (!answer)
        return -1;
    memory = ctl_object(json_object_array_get_idx(ctl_object(answer, "steps"), 0), "memory");
    reason = memory ? ctl_text(memory, "reason") : "not asked";
    if (reason[0] == '\0' || strcmp(reason, "nothing on this node can move it") == 0)
        day_memory_order(sim, job, ctl_number(memory, "rate_bytes_s"));
    else
        day_memory_order(sim, job, 0);
    json_object_put(answer);
    return 0;
}

/* Takes over where all stand. */
static int take_steps(const struct day_berthd *berthd, struct day_sim *sim,
                      struct json_object *steps, struct berth_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ctl_length(steps); i++) {
        const struct day_job *moved = take_stand(sim, json_object_array_get_idx(steps, i));

        if (moved && day_memory_behind(sim, moved, moved->core[DAY_STAND]) > 0)
            rc = take_order(berthd, sim, moved, err);
    }
    return rc;
}

/* Asks the node, and all steps if they may have moved. */
static int look(struct day_berthd *berthd, struct day_sim *sim, bool all, struct berth_error *err)
{
    struct wire_request request = {.op = all ? WIRE_OP_STATUS : WIRE_OP_EXPLAIN};
    struct json_object *answer;
    double moves;
    int rc;

    answer = ctl_ask(berthd->socket, &request, err);
    if (!answer)
        return -1;
    moves = ctl_number(ctl_object(answer, "node"), "moves");
    snprintf(berthd->policy, sizeof(berthd->policy), "%s",
             ctl_text(ctl_object(answer, "node"), "policy"));
    rc = all ? take_steps(berthd, sim, ctl_object(answer, "steps"), err) : 0;
    json_object_put(answer);
    if (rc < 0)
        return -1;
    if (!all && moves != berthd->moves)
        return look(berthd, sim, true, err);
    berthd->moves = moves;
    return tick(berthd, err);
}

/* ---- a placer ---- */

/* A registration, and what it points to. */
struct registration {
    struct wire_request request;
    struct wire_task task[CPUS_MAX];
    char exe[DAY_EXE_MAX], cores[CPUS_TEXT_MAX];
};

/* Returns the first core that Slurm gave a task. */
static size_t first_core(const struct day_sim *sim, const struct day_job *job, size_t task)
{
    return sim->plan.sizes ? job->given[task * job->width] : job->core[DAY_HOME][0];
}

static void describe(const struct day_berthd *berthd, const struct day_job *job,
                     struct registration *of)
{
    const struct day_sim *sim = berthd->feed.sim;
    struct wire_register *reg = &of->request.reg;
    struct cpus cpus = {0};

    of->request.op = WIRE_OP_REGISTER;
    for (size_t t = 0; t < job->tasks; t++)
        of->task[t] =
            (struct wire_task){.id = (uint32_t)t, .pid = berthd->sleeper[first_core(sim, job, t)]};
    for (size_t c = 0; c < job->cores; c++)
        cpus_or(&cpus, &sim->topo->core[job->core[DAY_HOME][c]].cpus);
    cpus_format(&cpus, of->cores, sizeof(of->cores));
    day_feed_exe(sim->truth, job->app, of->exe, reg->hash);
    reg->id.job = job->id;
    reg->uid = reg->gid = 1000;
    reg->cpus_per_task = (uint32_t)job->width;
    reg->nodes = 1;
    reg->ntasks = job->tasks;
    reg->task = of->task;
    reg->exe = of->exe;
    reg->job_cores = reg->step_cores = of->cores;
    wire_options_init(&reg->options);
    reg->options.mode = job->will == DAY_STRANGER ? WIRE_MODE_OFF : WIRE_MODE_AUTO;
    if (job->will == DAY_KEPT) {
        reg->pin = WIRE_PIN_ENVIRONMENT;
        snprintf(reg->pin_by, sizeof(reg->pin_by), "OMP_PROC_BIND");
        reg->pin_within = true;
    }
    snprintf(reg->node, sizeof(reg->node), "day");
    snprintf(reg->shape, sizeof(reg->shape), "()");
}

static void affinity_path(const struct day_berthd *berthd, pid_t pid, char path[PATH_MAX])
{
    char stat[PATH_MAX];

    snprintf(stat, sizeof(stat), "%.1000s/stat", berthd->feed.folder);
    snprintf(path, PATH_MAX, DAY_CLOCK_AFFINITY, stat, (int)pid);
}

/* Each task has the cores that Slurm gave it, while berthd asks where it is at home. */
static int put_affinities(const struct day_berthd *berthd, const struct day_job *job,
                          const struct registration *of, struct berth_error *err)
{
    const struct topo *topo = berthd->feed.sim->topo;
    char path[PATH_MAX];

    for (size_t t = 0; t < job->tasks; t++) {
        struct cpus cpus = {0};

        for (size_t c = 0; c < job->width; c++)
            cpus_or(&cpus, &topo->core[job->given[t * job->width + c]].cpus);
        affinity_path(berthd, of->task[t].pid, path);
        if (file_replace(path, 0600, 0, (const char *)cpus.word, sizeof(cpus.word)) < 0)
            return berth_error_set(err, "%s: %s", path, strerror(errno));
    }
    return 0;
}

static void remove_affinities(const struct day_berthd *berthd, const struct day_job *job,
                              const struct registration *of)
{
    char path[PATH_MAX];

    for (size_t t = 0; t < job->tasks; t++) {
        affinity_path(berthd, of->task[t].pid, path);
        unlink(path);
    }
}

static int on_start(void *state, struct day_sim *sim, struct day_job *job, struct berth_error *err)
{
    struct day_berthd *berthd = state;
    struct registration registration = {0};
    int rc;

    describe(berthd, job, &registration);
    if (sim->plan.sizes && put_affinities(berthd, job, &registration, err) < 0)
        return -1;
    rc = day_feed_now(&berthd->feed, err) < 0 || tell(berthd, &registration.request, err) < 0 ||
                 tick(berthd, err) < 0
             ? -1
             : 0;
    if (sim->plan.sizes)
        remove_affinities(berthd, job, &registration);
    return rc < 0 ? rc : look(berthd, sim, true, err);
}

static int on_end(void *state, struct day_sim *sim, struct day_job *job, struct berth_error *err)
{
    struct wire_request end = {.op = WIRE_OP_END,
                               .end = {.id.job = job->id, .user_s = job->counts.cpu_s}};
    struct wire_request job_end = {.op = WIRE_OP_JOB_END, .id = {job->id, UINT32_MAX}};
    struct day_berthd *berthd = state;

    if (tell(berthd, &end, err) < 0 || tell(berthd, &job_end, err) < 0 || tick(berthd, err) < 0)
        return -1;
    day_feed_end(&berthd->feed, job);
    return look(berthd, sim, true, err);
}

static int on_advance(void *state, struct day_sim *sim, struct berth_error *err)
{
    struct day_berthd *berthd = state;
    bool due = berthd->idle_until <= sim->now;

    if (day_feed_now(&berthd->feed, err) < 0 || tick(berthd, err) < 0)
        return -1;
    return due ? look(berthd, sim, false, err) : 0;
}

static int64_t on_next(void *state)
{
    return ((struct day_berthd *)state)->idle_until;
}

static void on_day(void *state, size_t day)
{
    struct day_berthd *berthd = state;
    struct timespec used = {0};
    clockid_t clock;

    if (clock_getcpuclockid(berthd->played.pid, &clock) == 0)
        clock_gettime(clock, &used);
    berthd->cpu_s[day] = (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* ---- from start to end ---- */

int day_berthd_open(struct day_berthd **out, const char *folder, struct day_sim *sim,
                    const struct day_study *study, struct day_placer *placer,
                    struct berth_error *err)
{
    struct day_berthd *berthd = calloc(1, sizeof(*berthd));

    if (!berthd)
        return berth_no_memory(err);
    berthd->feed = (struct day_feed){.folder = folder, .sim = sim};
    berthd->played = played_none;
    berthd->sleeper = calloc(sim->topo->cores, sizeof(*berthd->sleeper));
    berthd->cpu_s = calloc(sim->days, sizeof(*berthd->cpu_s));
    snprintf(berthd->socket, sizeof(berthd->socket), "%s/berthd.sock", folder);
    if (!berthd->sleeper || !berthd->cpu_s || day_feed_begin(&berthd->feed, study, err) < 0 ||
        played_start(&berthd->played, study->build, folder, err) < 0 ||
        sleepers_start(berthd, err) < 0 || tick(berthd, err) < 0 ||
        look(berthd, sim, true, err) < 0) {
        day_berthd_close(berthd);
        return -1;
    }
    *placer = (struct day_placer){.name = berthd->policy,
                                  .state = berthd,
                                  .start = on_start,
                                  .end = on_end,
                                  .advance = on_advance,
                                  .next = on_next,
                                  .day = on_day};
    *out = berthd;
    return 0;
}

void day_berthd_close(struct day_berthd *berthd)
{
    if (!berthd)
        return;
    played_stop(&berthd->played);
    for (size_t i = 0; berthd->sleeper && i < berthd->feed.sim->topo->cores; i++)
        if (berthd->sleeper[i] > 0) {
            kill(berthd->sleeper[i], SIGKILL);
            waitpid(berthd->sleeper[i], NULL, 0);
        }
    free(berthd->sleeper);
    free(berthd->cpu_s);
    free(berthd);
}

double day_berthd_cpu_s(const struct day_berthd *berthd, size_t day)
{
    return berthd->cpu_s[day] - (day > 0 ? berthd->cpu_s[day - 1] : 0);
}

const char *day_berthd_policy(const struct day_berthd *berthd)
{
    return berthd->policy;
}
