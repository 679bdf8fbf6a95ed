/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jobs - see jobs.h */
#include "packer/identity/jobs.h"

#include <stdlib.h>

static struct known_job_list *bucket_of(const struct known_jobs *jobs, uint32_t number)
{
    return (struct known_job_list *)&jobs->bucket[number & (JOBS_BUCKETS - 1)];
}

void known_jobs_init(struct known_jobs *jobs)
{
    TAILQ_INIT(&jobs->list);
    for (uint32_t i = 0; i < JOBS_BUCKETS; i++)
        TAILQ_INIT(&jobs->bucket[i]);
    jobs->n = 0;
    jobs->tidy_at = 2 * JOBS_KEPT_MAX;
}

static void drop(struct known_jobs *jobs, struct known_job *job)
{
    TAILQ_REMOVE(&jobs->list, job, link);
    TAILQ_REMOVE(bucket_of(jobs, job->run.job), job, same);
    jobs->n--;
    free(job);
}

void known_jobs_free(struct known_jobs *jobs)
{
    struct known_job *job;

    while ((job = TAILQ_FIRST(&jobs->list)))
        drop(jobs, job);
}

/* Says whether a step that begins at that time is of another run. */
static bool is_past(const struct known_job *job, uint32_t uid, int64_t at)
{
    return job->over || job->run.uid != uid || (!job->live && at - job->until > JOBS_KEPT_S);
}

static struct known_job *add(struct known_jobs *jobs, uint32_t number, uint32_t uid, int64_t at)
{
    struct known_job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    job->run = (struct asker_run){number, uid, at};
    job->from = at;
    TAILQ_INSERT_HEAD(&jobs->list, job, link);
    TAILQ_INSERT_HEAD(bucket_of(jobs, number), job, same);
    jobs->n++;
    return job;
}

/* Those that were not looked for lately are forgotten when there are many: once in so many. */
static void tidy(struct known_jobs *jobs, int64_t now)
{
    if (jobs->n < jobs->tidy_at)
        return;
    known_jobs_forget(jobs, now);
    jobs->tidy_at = 2 * (jobs->n + JOBS_KEPT_MAX);
}

struct known_job *known_jobs_begin(struct known_jobs *jobs, uint32_t number, uint32_t uid,
                                   int64_t at)
{
    struct known_job *job;

    tidy(jobs, at);
    job = known_jobs_find(jobs, number);
    if (job && is_past(job, uid, at))
        job->over = true;
    if (!job || job->over)
        job = add(jobs, number, uid, at);
    if (!job)
        return NULL;
    if (at < job->from)
        job->from = at;
    job->live++;
    return job;
}

struct known_job *known_jobs_again(struct known_jobs *jobs, const struct asker_run *run)
{
    struct known_job *job = known_jobs_find_run(jobs, run);

    if (!job) {
        while ((job = known_jobs_find(jobs, run->job)))
            job->over = true;
        job = add(jobs, run->job, run->uid, run->at);
    }
    if (job)
        job->asked = true;
    return job;
}

struct known_job *known_jobs_find(const struct known_jobs *jobs, uint32_t number)
{
    struct known_job *job;

    TAILQ_FOREACH(job, bucket_of(jobs, number), same)
    if (job->run.job == number && !job->over)
        return job;
    return NULL;
}

struct known_job *known_jobs_of(const struct known_jobs *jobs, uint32_t number, int64_t at)
{
    struct known_job *job;

    TAILQ_FOREACH(job, bucket_of(jobs, number), same)
    if (job->run.job == number && job->from <= at)
        return job;
    return NULL;
}

struct known_job *known_jobs_find_run(const struct known_jobs *jobs, const struct asker_run *run)
{
    struct known_job *job;

    TAILQ_FOREACH(job, bucket_of(jobs, run->job), same)
    if (job->run.job == run->job && job->run.at == run->at)
        return job;
    return NULL;
}

void known_job_step_ended(struct known_job *job, int64_t at)
{
    if (job->live)
        job->live--;
    if (at > job->until)
        job->until = at;
}

static bool has(const uint32_t *jobs, size_t n, uint32_t job)
{
    for (size_t i = 0; i < n; i++)
        if (jobs[i] == job)
            return true;
    return false;
}

void known_jobs_looked(struct known_jobs *jobs, const uint32_t *seen, size_t n)
{
    struct known_job *job;

    TAILQ_FOREACH(job, &jobs->list, link)
    {
        job->unseen = job->live || has(seen, n, job->run.job) ? 0 : job->unseen + 1;
        if (job->unseen >= JOBS_UNSEEN)
            job->over = true;
    }
}

void known_jobs_forget(struct known_jobs *jobs, int64_t now)
{
    struct known_job *job = TAILQ_FIRST(&jobs->list), *next;
    size_t idle = 0;

    for (; job; job = next) {
        next = TAILQ_NEXT(job, link);
        if (job->live || job->asked)
            continue;
        if (job->over || now - job->until > JOBS_KEPT_S || ++idle > JOBS_KEPT_MAX)
            drop(jobs, job);
    }
}
