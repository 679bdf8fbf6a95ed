/* SPDX-License-Identifier: GPL-2.0-or-later */
/* identify - see identify.h */
#include "packer/daemon/identify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/array.h"
#include "packer/conf/admit.h"
#include "packer/conf/admit_names.h"
#include "packer/daemon/ledger_record.h"
#include "packer/identity/asker.h"
#include "packer/identity/jobs.h"
#include "packer/place/place.h"
#include "packer/steps/journal.h"
#include "packer/slurm/steps/pool_marker.h"
#include "packer/steps/stage.h"

static int open_names(const struct packer *packer, struct berth_error *err)
{
    struct berth_error why;

    if (admit_names_open(&packer->state->names, err) < 0)
        return -1;
    packer->state->jobs = malloc(sizeof(*packer->state->jobs));
    if (!packer->state->jobs)
        return berth_no_memory(err);
    known_jobs_init(packer->state->jobs);
    if (asker_open(&packer->state->asker, &packer->world.conf, &why) < 0)
        log_warn("nobody is asked who the jobs are: %s", why.text);
    return 0;
}

static void close_names(const struct packer *packer)
{
    asker_close(packer->state->asker);
    if (packer->state->jobs)
        known_jobs_free(packer->state->jobs);
    free(packer->state->jobs);
    packer->state->jobs = NULL;
    admit_names_close(packer->state->names);
}

/* ---- a step ---- */

/* Joins the step's run, and asks who it is unless that is known, or asked for already. */
static void join(const struct packer *packer, struct step *step, bool urgent)
{
    const struct wire_register *request = &step->request;
    struct known_job *job =
        known_jobs_begin(packer->state->jobs, request->id.job, request->uid, step->started_at);

    if (!job)
        return;
    if (job->is.source == WIRE_SOURCE_NONE)
        job->is = step->identity.is; /* an adopted step knows it */
    if (job->is.source == WIRE_SOURCE_NONE)
        job->asked = asker_ask(packer->state->asker, &job->run, request->nodes, urgent);
    step->identity.is = job->is;
}

/* Says whether an answer is on its way. */
static bool is_asked(const struct packer *packer, const struct step *step)
{
    const struct known_job *job =
        known_jobs_of(packer->state->jobs, step->request.id.job, step->started_at);

    return job && job->asked;
}

/* Only the job's account or QOS could allow this word. */
static bool unknown(const struct packer *packer, const struct step *step, const char *word)
{
    return admit_unknown(&packer->world.conf, &step->request, &step->identity.is, word);
}

void identify_begin(const struct packer *packer, struct step *step)
{
    const struct wire_options asked = step->request.options;
    bool isolate, slowdown;

    isolate = asked.isolate && unknown(packer, step, "isolate");
    slowdown = asked.max_slowdown_pct >= 0 && unknown(packer, step, "max-slowdown");
    join(packer, step, isolate || slowdown);
    admit_options(&packer->world.conf, &step->request, &step->identity.is, step->refused,
                  sizeof(step->refused));
    step->isolate_refused = asked.isolate && !step->request.options.isolate;
    step->slowdown_refused =
        asked.max_slowdown_pct >= 0 && !(step->request.options.max_slowdown_pct >= 0);
    if (!is_asked(packer, step))
        return;
    step->identity.isolate_waits = isolate && step->isolate_refused;
    if (slowdown && step->slowdown_refused)
        step->identity.slowdown_waits_pct = asked.max_slowdown_pct;
}

/* Does the same for a step that was adopted; its options are as they were. */
static void identify_adopt(const struct packer *packer, struct step *step)
{
    join(packer, step, step->identity.isolate_waits || step->identity.slowdown_waits_pct >= 0);
    if (step->identity.is.source != WIRE_SOURCE_NONE || is_asked(packer, step))
        return;
    step->identity.isolate_waits = false;
    step->identity.slowdown_waits_pct = -1;
}

/* ---- what the next berthd asks ---- */

/* Writes down that there are records that wait for the run's answer. */
static void write_ask(const struct packer *packer, const struct known_job *job)
{
    struct berth_error err;

    if (job->asked && journal_ask(packer, job, &err) < 0)
        log_error("job %u: %s", job->run.job, err.text);
}

/* Notes that nobody is asked for the run any more. */
static void write_told(const struct packer *packer, struct known_job *job)
{
    struct berth_error err;

    job->asked = false;
    if (job->until && journal_told(packer, job, &err) < 0)
        log_error("job %u: %s", job->run.job, err.text);
}

/* ---- an answer ---- */

static bool may(const struct packer *packer, const struct step *step, const char *word)
{
    return !admit_priority(&packer->world.conf, &step->request, &step->identity.is, word);
}

/* Lets the words take effect that waited for it and are allowed now. */
static void admit_waiting(const struct packer *packer, struct step *step)
{
    struct step_identity *identity = &step->identity;
    bool isolate = identity->isolate_waits && may(packer, step, "isolate");
    bool slowdown = identity->slowdown_waits_pct >= 0 && may(packer, step, "max-slowdown");

    step_admit(step, isolate, slowdown ? identity->slowdown_waits_pct : -1);
    identity->isolate_waits = false;
    identity->slowdown_waits_pct = -1;
    if (slowdown)
        place_bound(step);
    identity->granted = isolate || slowdown;
}

static bool is_of(const struct known_job *job, const struct step *step)
{
    return step->request.id.job == job->run.job && step->request.uid == job->run.uid &&
           step->started_at >= job->from && (!job->over || step->started_at <= job->until);
}

/* Tells the run's steps who they are, or why nobody knows. */
static void tell_steps(const struct packer *packer, const struct known_job *job, const char *why)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->ended, link)
    if (is_of(job, step))
        step->identity.is = job->is;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!is_of(job, step))
            continue;
        step->identity.is = job->is;
        snprintf(step->identity.why, sizeof(step->identity.why), "%s", why);
        admit_waiting(packer, step);
        journal_note(packer, step);
    }
}

/* Takes over what Slurm says of a run. */
static void take_over(const struct packer *packer, struct known_job *job,
                      const struct wire_identity *is)
{
    job->is = *is;
    ledger_record_identify(packer, job);
    tell_steps(packer, job, "");
}

/* Says whether Slurm tells of this run, and not of another job or of another run of it. */
static bool fits(const struct known_job *job, const struct wire_identity *is)
{
    if (is->job == job->run.job && is->uid == job->run.uid &&
        is->start <= job->run.at + SAID_CLOCKS_DIFFER_S)
        return true;
    log_warn("job %u: %s says that it is user %u's and began at %lld; its steps here are user "
             "%u's since %lld: not believed",
             job->run.job, wire_source_name[is->source], is->uid, (long long)is->start,
             job->run.uid, (long long)job->run.at);
    return false;
}

void identify_answers(const struct packer *packer)
{
    struct asker_answer answer;

    while (asker_take(packer->state->asker, &answer)) {
        struct known_job *job = known_jobs_find_run(packer->state->jobs, &answer.run);
        const struct wire_identity *is = &answer.said.is;

        if (!job)
            continue;
        if (is->source != WIRE_SOURCE_NONE && fits(job, is))
            take_over(packer, job, is);
        else
            tell_steps(packer, job,
                       answer.said.why[0] ? answer.said.why : "Slurm tells of another job");
        write_told(packer, job); /* what it was written down for is done */
    }
}

void identify_resume(const struct packer *packer)
{
    struct known_job *job;

    TAILQ_FOREACH(job, &packer->state->jobs->list, link)
    {
        if (!job->asked || !job->until)
            continue;
        if (job->is.source != WIRE_SOURCE_NONE) /* the answer came, and its end is not written */
            ledger_record_identify(packer, job);
        if (job->is.source != WIRE_SOURCE_NONE ||
            !asker_ask(packer->state->asker, &job->run, 0, false))
            write_told(packer, job);
    }
}

struct step *identify_granted(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->identity.granted) {
        step->identity.granted = false;
        return step;
    }
    return NULL;
}

/* ---- the end ---- */

/* Notes that the step, which is live still and has its record in the ledger, ends. */
static void note_end(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    struct known_job *job =
        known_jobs_of(packer->state->jobs, step->request.id.job, step->started_at);

    (void)end;
    if (!job)
        return;
    known_job_step_ended(job, step->ended_at);
    write_ask(packer, job);
    ledger_record_settle(packer, job);
}

void identify_job_end(const struct packer *packer, uint32_t number,
                      const struct wire_identity *said)
{
    struct known_job *job = known_jobs_find(packer->state->jobs, number);

    if (job && job->is.source == WIRE_SOURCE_NONE && said->source != WIRE_SOURCE_NONE &&
        fits(job, said))
        take_over(packer, job, said);
    if (job)
        job->over = true;
    pool_marker_update(packer, number);
}

void identify_stop(const struct packer *packer)
{
    const struct known_job *job;

    TAILQ_FOREACH(job, &packer->state->jobs->list, link)
    if (job->asked && job->live == 0 && job->until) {
        asker_hurry(packer->state->asker, IDENTIFY_STOP_S);
        identify_answers(packer);
        return;
    }
}

/* ---- ends that nobody told of ---- */

struct folders {
    const struct packer *packer;
    size_t n, room;
    uint32_t *job;
};

/* Adds a job that nobody has told of the end of. One that Slurm left behind, without a process, is
 * over. */
static void add_folder(const struct slurm_job *job, const struct cpus *cpus, void *arg)
{
    struct folders *folders = arg;

    (void)cpus;
    if (known_jobs_find(folders->packer->state->jobs, job->job) &&
        slurm_job_lives(enforce_slurm(folders->packer->world.enforce), job) &&
        array_grow(&folders->job, &folders->room, folders->n + 1, sizeof(*folders->job)) == 0)
        folders->job[folders->n++] = job->job;
}

void identify_look(const struct packer *packer)
{
    struct folders folders = {.packer = packer};

    if (packer->world.enforce->way->jobs) {
        packer->world.enforce->way->jobs(enforce_slurm(packer->world.enforce), packer->steps->node,
                                         add_folder, &folders);
        known_jobs_looked(packer->state->jobs, folders.job, folders.n);
        free(folders.job);
    }
    known_jobs_forget(packer->state->jobs, time(NULL));
    pool_marker_tidy(packer);
}

/* ---- the stage ---- */

const struct stage identity_stage = {
    .name = "identity",
    .open = open_names,
    .close = close_names,
    .begin = identify_begin,
    .adopt = identify_adopt,
    .end = note_end,
};
