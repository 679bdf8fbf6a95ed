/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/memory/mover.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "packer/base/clock.h"
#include "packer/base/log.h"
#include "packer/base/worker.h"

enum state { WAITING, RUNNING, DONE };

struct entry {
    TAILQ_ENTRY(entry) link;
    struct memory_job job;
    struct memory_finder finder;
    struct memory_progress progress;
    enum state state;
    bool dropped; /* not in the list any more: the thread, which has it in hand, frees it */
};
TAILQ_HEAD(entries, entry);

struct memory_mover {
    struct memory_system system;
    struct worker worker;
    double rate;            /* bytes per second; under the worker's mutex */
    struct entries entries; /* one for a step, in order of arrival; under the worker's mutex */
};

static void entry_free(struct entry *entry)
{
    free(entry->job.process);
    memory_origin_release(entry->job.origin);
    if (entry->finder.release)
        entry->finder.release(entry->finder.arg);
    free(entry);
}

/* ---- the thread ---- */

/* Who paces the job in hand. */
struct pacer {
    struct memory_mover *mover;
    struct entry *entry;
    double began_s; /* the chunk before this one */
};

/* Wait until the last chunk's share of time has passed; false when nothing is to follow. */
static bool pace(void *arg, const struct memory_progress *progress, double wait_s)
{
    struct pacer *pacer = arg;
    struct worker *worker = &pacer->mover->worker;
    struct memory_progress *before = &pacer->entry->progress;
    double bytes = progress->moved + progress->failed;
    bool go_on;

    worker_lock(worker);
    bytes -= before->moved + before->failed;
    *before = *progress;
    while ((go_on = !worker->stopping && !pacer->entry->dropped) &&
           worker_wait_until(worker, pacer->began_s + fmax(bytes / pacer->mover->rate, wait_s)))
        ;
    worker_unlock(worker);
    pacer->began_s = clock_s();
    return go_on;
}

/* The next job, waited for; NULL at the end. The mutex is held. */
static struct entry *wait_for_job(struct memory_mover *mover)
{
    struct entry *entry;

    while (!mover->worker.stopping) {
        TAILQ_FOREACH(entry, &mover->entries, link)
        if (entry->state == WAITING)
            return entry;
        worker_wait_until(&mover->worker, INFINITY);
    }
    return NULL;
}

/* Does a job, without the mutex. */
static void work(struct memory_mover *mover, struct entry *entry, struct memory_progress *progress)
{
    struct pacer pacer = {mover, entry, clock_s()};
    struct memory_finder *finder = &entry->finder;

    if (!finder->find || finder->find(finder->arg, &entry->job) == 0) {
        memory_pages_move(&mover->system, &entry->job, pace, &pacer, progress);
        return;
    }
    *progress = (struct memory_progress){.bytes = NAN};
    snprintf(progress->why, sizeof(progress->why), "its processes cannot be listed: %s",
             strerror(errno));
}

static void run(void *arg)
{
    struct memory_mover *mover = arg;
    struct entry *entry;

    while ((entry = wait_for_job(mover))) {
        struct memory_progress progress;

        entry->state = RUNNING;
        worker_unlock(&mover->worker);
        work(mover, entry, &progress);
        worker_lock(&mover->worker);
        entry->progress = progress;
        entry->state = DONE;
        worker_changed(&mover->worker);
        if (entry->dropped)
            entry_free(entry);
    }
}

/* ---- the event loop's side ---- */

struct memory_mover *memory_mover_open(const struct memory_system *system, double rate)
{
    struct memory_mover *mover = calloc(1, sizeof(*mover));
    struct berth_error err;

    if (!mover)
        return NULL;
    mover->system = *system;
    mover->rate = rate;
    TAILQ_INIT(&mover->entries);
    if (worker_open(&mover->worker, run, mover, &err) == 0)
        return mover;
    log_warn("memory does not follow: %s", err.text);
    free(mover);
    return NULL;
}

void memory_mover_pace(struct memory_mover *mover, double rate)
{
    worker_lock(&mover->worker);
    mover->rate = rate;
    worker_changed(&mover->worker);
    worker_unlock(&mover->worker);
}

/* Unlink it; the thread's own is freed by the thread. The mutex is held. */
static void drop(struct memory_mover *mover, struct entry *entry)
{
    TAILQ_REMOVE(&mover->entries, entry, link);
    if (entry->state != RUNNING) {
        entry_free(entry);
        return;
    }
    entry->dropped = true;
    worker_changed(&mover->worker);
}

/* One chunk may hang, waiting for a disk or for a great page. */
void memory_mover_close(struct memory_mover *mover)
{
    struct entry *entry;

    if (!mover || !worker_close(&mover->worker))
        return;
    while ((entry = TAILQ_FIRST(&mover->entries)))
        drop(mover, entry);
    free(mover);
}

/* The step's job, or NULL. The mutex is held. */
static struct entry *find(const struct memory_mover *mover, struct wire_step_id id)
{
    struct entry *entry;

    TAILQ_FOREACH(entry, &mover->entries, link)
    if (entry->job.id.job == id.job && entry->job.id.step == id.step)
        return entry;
    return NULL;
}

int memory_mover_put(struct memory_mover *mover, const struct memory_job *job,
                     const struct memory_finder *finder)
{
    struct entry *entry = calloc(1, sizeof(*entry)), *older;

    if (!entry) {
        free(job->process);
        memory_origin_release(job->origin);
        if (finder && finder->release)
            finder->release(finder->arg);
        return -1;
    }
    entry->job = *job;
    if (finder)
        entry->finder = *finder;
    entry->progress.bytes = NAN;
    worker_lock(&mover->worker);
    older = find(mover, job->id);
    if (older)
        drop(mover, older);
    TAILQ_INSERT_TAIL(&mover->entries, entry, link);
    worker_changed(&mover->worker);
    worker_unlock(&mover->worker);
    return 0;
}

void memory_mover_drop(struct memory_mover *mover, struct wire_step_id id)
{
    struct entry *entry;

    worker_lock(&mover->worker);
    entry = find(mover, id);
    if (entry)
        drop(mover, entry);
    worker_unlock(&mover->worker);
}

bool memory_mover_look(struct memory_mover *mover, struct wire_step_id id,
                       struct memory_progress *progress, bool *running)
{
    struct entry *entry;

    worker_lock(&mover->worker);
    entry = find(mover, id);
    if (entry) {
        *progress = entry->progress;
        *running = entry->state != DONE;
    }
    worker_unlock(&mover->worker);
    return entry != NULL;
}

/* The mutex is held. */
static bool is_under_way(const struct memory_mover *mover, struct wire_step_id id)
{
    const struct entry *entry = find(mover, id);

    return entry && entry->state != DONE;
}

void memory_mover_wait(struct memory_mover *mover, struct wire_step_id id, double until_s)
{
    worker_lock(&mover->worker);
    while (is_under_way(mover, id) && worker_wait_until(&mover->worker, until_s))
        ;
    worker_unlock(&mover->worker);
}
