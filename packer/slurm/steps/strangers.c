/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strangers - see strangers.h */
#include "packer/slurm/steps/strangers.h"

#include <stdlib.h>

#include "packer/base/array.h"
#include "packer/base/log.h"
#include "packer/slurm/slurm_jobs.h"
#include "packer/steps/lacks.h"
#include "packer/steps/packer.h"
#include "packer/steps/stage.h"
#include "packer/system/process_look.h"

#define FIRST_LOOK_S 0.05 /* at a step: as long as slurmstepd waits for an answer */
#define FIRST_LOOK_JOB_S 0.005

/* ---- the list ---- */

static struct stranger *find_stranger(struct strangers *strangers, struct wire_step_id id)
{
    for (size_t i = 0; i < strangers->n; i++)
        if (strangers->stranger[i].id.job == id.job && strangers->stranger[i].id.step == id.step)
            return &strangers->stranger[i];
    return NULL;
}

/* Returns the one of that name, which is new where there was none; NULL for want of memory. */
static struct stranger *note(const struct packer *packer, struct wire_step_id id)
{
    struct strangers *strangers = packer->state->strangers;
    struct stranger *stranger = find_stranger(strangers, id);

    if (stranger || array_grow(&strangers->stranger, &strangers->room, strangers->n + 1,
                               sizeof(*strangers->stranger)) < 0)
        return stranger;
    stranger = &strangers->stranger[strangers->n++];
    *stranger = (struct stranger){.id = id, .uid = UINT32_MAX, .since_s = clock_s()};
    return stranger;
}

static void say(const struct stranger *stranger, const char *what)
{
    char name[WIRE_STEP_NAME_MAX], text[CPUS_TEXT_MAX] = "?";

    if (cpus_empty(&stranger->cpus)) /* its folder was never found */
        return;
    wire_step_name(stranger->id, name);
    cpus_format(&stranger->cpus, text, sizeof(text));
    log_line(stranger->id.step == WHOLE_JOB ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN, "%s %s %s, CPUs %s",
             stranger->id.step == WHOLE_JOB ? "job" : "step", name, what, text);
}

/* Lets a stranger count, with these CPUs. Returns whether that is news. */
static bool count(struct stranger *stranger, const struct cpus *cpus)
{
    bool news = !stranger->counts || !cpus_equal(&stranger->cpus, cpus);

    stranger->counts = true;
    stranger->cpus = *cpus;
    if (news)
        say(stranger, stranger->id.step == WHOLE_JOB
                          ? "is not in berth's care: nobody else is put on its cores"
                          : "runs and is not registered: nobody else is put on its cores");
    return news;
}

/* Forgets those of the job (UINT32_MAX: of all) that were not seen; of a single job only steps.
 * Returns whether any of them had counted. */
static bool forget(struct strangers *strangers, uint32_t job)
{
    bool news = false;
    size_t kept = 0;

    for (size_t i = 0; i < strangers->n; i++) {
        struct stranger *stranger = &strangers->stranger[i];
        bool read =
            job == UINT32_MAX || (stranger->id.job == job && stranger->id.step != WHOLE_JOB);

        if (!read || stranger->seen) {
            stranger->seen = false;
            strangers->stranger[kept++] = *stranger;
        } else if (stranger->counts) {
            news = true;
            say(stranger, "has gone, or is in berth's care now");
        }
    }
    strangers->n = kept;
    return news;
}

/* ---- steps ---- */

struct reading {
    const struct packer *packer;
    struct slurm_cgroups slurm;
    struct step_index index; /* of the live steps, where many are asked about; step NULL: none */
    struct cpus cores;       /* of the pool's jobs, and what may be idle */
    bool news;
};

/* Is the step one that berth looks after? */
static bool in_care(const struct step *step)
{
    return step->state == STEP_PLACED || step->state == STEP_OBSERVED;
}

/* Has berthd heard of the step's end just now? What it leaves behind is removed by Slurm. */
static bool has_just_ended(const struct packer *packer, struct wire_step_id id)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->ended, link)
    {
        if (clock_s() - step->ended_mono_s > STRANGERS_PATIENCE_S)
            return false;
        if (step->request.id.job == id.job && step->request.id.step == id.step)
            return true;
    }
    return false;
}

static bool is_shell(struct wire_step_id id)
{
    return id.step == WIRE_STEP_BATCH || id.step == WIRE_STEP_INTERACTIVE;
}

static bool is_excused(const struct stranger *stranger)
{
    return stranger->asks && clock_s() - stranger->since_s < STRANGERS_ASKS_S;
}

/* Looks at a step folder of a job of the pool. */
static void visit_step(const struct slurm_job *job, struct wire_step_id id, const char *dir,
                       void *arg)
{
    struct reading *reading = arg;
    const struct packer *packer = reading->packer;
    struct stranger *stranger = find_stranger(packer->state->strangers, id);
    enum slurm_life life;
    struct cpus cpus;
    bool old;

    if (is_shell(id) || (reading->index.step ? step_index_find(&reading->index, id)
                                             : registry_find(packer->steps, id)))
        return;
    life = slurm_step_life(reading->slurm, job, dir, &cpus);
    old = stranger && clock_s() - stranger->since_s >= STRANGERS_PATIENCE_S;
    if (life == SLURM_EMPTY && (!stranger || old))
        return;
    if (!stranger && !(stranger = note(packer, id)))
        return;
    stranger->seen = true;
    if (is_excused(stranger))
        return;
    if (stranger->counts || (life == SLURM_RUNS && !has_just_ended(packer, id)) ||
        (life != SLURM_EMPTY && old))
        reading->news |= count(stranger, &cpus);
}

/* Reads the steps of a job by one of them that berth looks after. */
static void read_steps_of(struct reading *reading, const struct step *step)
{
    struct slurm_job job;

    if (slurm_job_of(reading->slurm, step->body.id, step->body.leaf, &job))
        slurm_job_steps(reading->slurm, &job, visit_step, reading);
}

/* Returns a step of the job that berth looks after, or NULL. */
static const struct step *any_of(const struct packer *packer, uint32_t job)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->request.id.job == job && in_care(step))
        return step;
    return NULL;
}

/* The same by the index: from position *at of the job's first step, which is set behind its last.
 */
static const struct step *any_at(const struct step_index *index, uint32_t job, size_t *at)
{
    const struct step *found = NULL;

    for (; *at < index->n && index->step[*at]->request.id.job == job; ++*at)
        if (!found && in_care(index->step[*at]))
            found = index->step[*at];
    return found;
}

/* Names the owners of the steps, which are those of their jobs. */
static void name_owners(const struct packer *packer)
{
    for (size_t i = 0; i < packer->state->strangers->n; i++) {
        struct stranger *stranger = &packer->state->strangers->stranger[i];
        const struct step *step = any_of(packer, stranger->id.job);

        if (step && stranger->id.step != WHOLE_JOB)
            stranger->uid = step->request.uid;
    }
}

static struct reading reading_of(const struct packer *packer)
{
    return (struct reading){.packer = packer, .slurm = enforce_slurm(packer->world.enforce)};
}

static bool end(struct reading *reading, uint32_t job)
{
    reading->news |= forget(reading->packer->state->strangers, job);
    name_owners(reading->packer);
    return reading->news;
}

bool strangers_read_job(const struct packer *packer, uint32_t job)
{
    struct reading reading = reading_of(packer);
    const struct step *step = any_of(packer, job);

    if (!packer->world.enforce->way->jobs)
        return false;
    if (step)
        read_steps_of(&reading, step);
    return end(&reading, job);
}

/* ---- jobs ---- */

struct running {
    struct slurm_cgroups slurm;
    bool any;
};

static void visit_running(const struct slurm_job *job, struct wire_step_id id, const char *dir,
                          void *arg)
{
    struct running *running = arg;
    struct cpus cpus;

    (void)id;
    running->any = running->any || slurm_step_life(running->slurm, job, dir, &cpus) == SLURM_RUNS;
}

static bool any_runs(const struct packer *packer, size_t n, const struct enforce_task *task)
{
    struct process_look look;

    for (size_t i = 0; i < n; i++)
        if (process_look(&packer->world.root, task[i].pid, &look) == 0 && !look.exiting &&
            process_same(look.started, task[i].started) &&
            !process_stopped(&packer->world.root, task[i].pid))
            return true;
    return false;
}

/* Does a task of the step run on? It may have ended, or be stopped. */
static bool runs(const struct packer *packer, const struct step *step)
{
    return any_runs(packer, step->body.ntasks, step->body.task) ||
           any_runs(packer, step->nregistered, step->registered);
}

/* Have these CPUs been taken from a job of the pool? Else nobody had them, Slurm lets jobs share
 * them, or the job that had them is yet to be stopped: Slurm gives its cores to others before that.
 */
static bool given_away(const struct packer *packer, const struct cpus *cpus)
{
    const struct step *step;
    bool were_idle = true;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!in_care(step) || !cpus_intersect(cpus, &step->body.job_home))
            continue;
        were_idle = false;
        if (step_movable(step) && runs(packer, step))
            return false;
    }
    return !were_idle;
}

/* Is it to be looked at again? */
static bool is_awaited(const struct stranger *stranger)
{
    return !stranger->counts || stranger->new;
}

/* Does a task of the job run its program? */
static bool runs_program(struct reading *reading, const struct slurm_job *job)
{
    struct running running = {.slurm = reading->slurm};

    slurm_job_steps(reading->slurm, job, visit_running, &running);
    return running.any;
}

/* A job runs: if it is new, it has not asked for its cores. */
static void judge(const struct packer *packer, struct stranger *stranger)
{
    const char *why = "jobs start that do not ask for their cores: "
                      "is berth's line missing in a plugstack.conf?";

    if (!stranger->new)
        return;
    stranger->new = false;
    packer->state->idle.asked = 0;
    if (++packer->state->idle.unasked != STRANGERS_UNASKED_MAX)
        return;
    lacks_note(packer, LACK_IDLE, why);
    log_warn("idle: no step stands on cores of nobody any more: %s (job %u)", why,
             stranger->id.job);
}

/* Do the cores of a job count that was taken note of, and whose program runs, or does not? */
static bool has_begun(const struct packer *packer, const struct stranger *stranger,
                      const struct cpus *cpus, bool runs)
{
    return runs || clock_s() - stranger->since_s >= STRANGERS_PATIENCE_S ||
           given_away(packer, cpus);
}

static void visit_job(const struct slurm_job *job, const struct cpus *cpus, void *arg)
{
    const struct wire_step_id id = {job->job, WHOLE_JOB};
    struct reading *reading = arg;
    struct stranger *stranger = find_stranger(reading->packer->state->strangers, id);
    size_t at = step_index_of_job(&reading->index, job->job);
    bool lives, runs;

    if (!cpus_intersect(cpus, &reading->cores) || any_at(&reading->index, job->job, &at))
        return;
    lives = slurm_job_lives(reading->slurm, job);
    runs = stranger && is_awaited(stranger) && runs_program(reading, job);
    if (runs)
        judge(reading->packer, stranger);
    if (!stranger && lives)
        stranger = note(reading->packer, id);
    else if (stranger && !stranger->counts &&
             (!lives || !has_begun(reading->packer, stranger, cpus, runs))) {
        stranger->seen = clock_s() - stranger->since_s < STRANGERS_PATIENCE_S;
        return;
    }
    if (!stranger || !lives)
        return;
    stranger->seen = true;
    reading->news |= count(stranger, cpus);
}

bool strangers_read(const struct packer *packer)
{
    struct reading reading = reading_of(packer);
    const struct step *step;
    bool news;

    if (!packer->world.enforce->way->jobs || step_index_make(packer->steps, &reading.index) < 0)
        return false;
    for (size_t at = 0; at < reading.index.n;) {
        step = any_at(&reading.index, reading.index.step[at]->request.id.job, &at);
        if (step)
            read_steps_of(&reading, step);
    }
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (in_care(step))
        cpus_or(&reading.cores, &step->body.job_home);
    strangers_add_idle(packer, &reading.cores);
    step = TAILQ_FIRST(&packer->steps->live);
    if (step)
        packer->world.enforce->way->jobs(reading.slurm, step->request.node, visit_job, &reading);
    news = end(&reading, UINT32_MAX);
    step_index_free(&reading.index);
    return news;
}

void strangers_add_idle(const struct packer *packer, struct cpus *cpus)
{
    if (packer->state->idle.marked)
        cpus_or(cpus, &packer->world.topo->cpus);
}

/* ---- what is expected ---- */

void strangers_expect(const struct packer *packer, struct wire_step_id id, bool refused)
{
    struct stranger *stranger;

    if (is_shell(id) || registry_find(packer->steps, id) || !any_of(packer, id.job))
        return;
    stranger = note(packer, id);
    if (stranger)
        stranger->counts |= refused;
}

void strangers_excuse(const struct packer *packer, struct wire_step_id id)
{
    struct stranger *stranger = any_of(packer, id.job) ? note(packer, id) : NULL;

    if (stranger)
        stranger->asks = true;
}

void strangers_expect_job(const struct packer *packer, uint32_t job)
{
    const struct wire_step_id id = {job, WHOLE_JOB};
    bool new = packer->state->idle.marked && !find_stranger(packer->state->strangers, id);
    struct stranger *stranger = note(packer, id);

    if (stranger && new)
        stranger->new = true;
}

void strangers_ask(const struct packer *packer, uint32_t job)
{
    struct stranger *stranger = note(packer, (struct wire_step_id){job, WHOLE_JOB});

    strangers_hear(packer, job);
    if (stranger)
        stranger->new = false;
}

void strangers_hear(const struct packer *packer, uint32_t job)
{
    struct idle_cores *idle = &packer->state->idle;

    if (idle->unasked >= STRANGERS_UNASKED_MAX)
        return;
    idle->unasked = 0;
    idle->asked += idle->asked == 0 || idle->asker != job;
    idle->asker = job;
}

bool strangers_look(const struct packer *packer)
{
    bool news = false;

    for (size_t i = 0; i < packer->state->strangers->n; i++)
        if (is_awaited(&packer->state->strangers->stranger[i]) &&
            packer->state->strangers->stranger[i].id.step == WHOLE_JOB)
            return strangers_read(packer);
    for (size_t i = packer->state->strangers->n;
         i-- > 0;) /* reading one job may shorten the list */
        if (i < packer->state->strangers->n && !packer->state->strangers->stranger[i].counts)
            news |= strangers_read_job(packer, packer->state->strangers->stranger[i].id.job);
    return news;
}

bool strangers_have(const struct packer *packer, struct wire_step_id id)
{
    for (size_t i = 0; i < packer->state->strangers->n; i++) {
        const struct stranger *stranger = &packer->state->strangers->stranger[i];

        if (stranger->counts && stranger->id.job == id.job &&
            (id.step == WHOLE_JOB || stranger->id.step == id.step))
            return true;
    }
    return false;
}

double strangers_due(const struct packer *packer)
{
    double due_s = -1, now_s = clock_s();

    for (size_t i = 0; i < packer->state->strangers->n; i++) {
        const struct stranger *stranger = &packer->state->strangers->stranger[i];
        double age_s = now_s - stranger->since_s, in_s = age_s / 2;

        if (!is_awaited(stranger))
            continue;
        if (is_excused(stranger))
            in_s = STRANGERS_ASKS_S - age_s;
        if (in_s < (stranger->id.step == WHOLE_JOB ? FIRST_LOOK_JOB_S : FIRST_LOOK_S))
            in_s = stranger->id.step == WHOLE_JOB ? FIRST_LOOK_JOB_S : FIRST_LOOK_S;
        if (due_s < 0 || in_s < due_s)
            due_s = in_s;
    }
    return due_s;
}

/* ---- the stage ---- */

static void read_beside(const struct packer *packer, struct step *step)
{
    strangers_read_job(packer, step->request.id.job);
}

static int open_list(const struct packer *packer, struct berth_error *err)
{
    packer->state->strangers = calloc(1, sizeof(*packer->state->strangers));
    return packer->state->strangers ? 0 : berth_no_memory(err);
}

static void free_list(const struct packer *packer)
{
    if (packer->state->strangers)
        free(packer->state->strangers->stranger);
    free(packer->state->strangers);
}

const struct stage strangers_stage = {
    .name = "strangers",
    .open = open_list,
    .close = free_list,
    .begin = read_beside,
    .adopt = stage_keeps, /* the sweep has just read all folders */
};
