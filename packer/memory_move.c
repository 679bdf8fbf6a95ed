/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_move - see memory_move.h */
#include "memory_move.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "log.h"
#include "mono.h"

#define CLOSE_WAIT_S 2

enum state { WAITING, RUNNING, DONE };

struct entry {
    TAILQ_ENTRY(entry) link;
    struct memory_job job;
    struct memory_progress progress;
    enum state state;
    bool dropped; /* not in the list any more: the thread, which has it in hand, frees it */
};
TAILQ_HEAD(entries, entry);

struct memory_mover {
    struct memory_system system;
    double rate; /* bytes per second */
    pthread_t thread;
    pthread_mutex_t mutex; /* for all that follows */
    pthread_cond_t changed;
    struct entries entries; /* one for a step, in order of arrival */
    bool stopping, stopped;
};

static void entry_free(struct entry *entry)
{
    free(entry->job.process);
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
    struct memory_mover *mover = pacer->mover;
    struct memory_progress *before = &pacer->entry->progress;
    double share_s, until, whole;
    struct timespec wake;
    bool go_on;
    int rc = 0;

    pthread_mutex_lock(&mover->mutex);
    share_s = (progress->moved + progress->failed - before->moved - before->failed) / mover->rate;
    until = pacer->began_s + fmax(share_s, wait_s);
    *before = *progress;
    wake.tv_nsec = (long)(modf(until, &whole) * 1e9);
    wake.tv_sec = (time_t)whole;
    while (!mover->stopping && !pacer->entry->dropped && rc == 0)
        rc = pthread_cond_timedwait(&mover->changed, &mover->mutex, &wake);
    go_on = !mover->stopping && !pacer->entry->dropped;
    pthread_mutex_unlock(&mover->mutex);
    pacer->began_s = mono_s();
    return go_on;
}

/* The next job, waited for; NULL at the end. The mutex is held. */
static struct entry *wait_for_job(struct memory_mover *mover)
{
    struct entry *entry;

    while (!mover->stopping) {
        TAILQ_FOREACH(entry, &mover->entries, link)
        if (entry->state == WAITING)
            return entry;
        pthread_cond_wait(&mover->changed, &mover->mutex);
    }
    return NULL;
}

static void *run(void *arg)
{
    struct memory_mover *mover = arg;
    struct entry *entry;

    pthread_mutex_lock(&mover->mutex);
    while ((entry = wait_for_job(mover))) {
        struct pacer pacer = {mover, entry, mono_s()};
        struct memory_progress progress;

        entry->state = RUNNING;
        pthread_mutex_unlock(&mover->mutex);
        memory_pages_move(&mover->system, &entry->job, pace, &pacer, &progress);
        pthread_mutex_lock(&mover->mutex);
        entry->progress = progress;
        entry->state = DONE;
        if (entry->dropped)
            entry_free(entry);
    }
    mover->stopped = true;
    pthread_cond_broadcast(&mover->changed);
    pthread_mutex_unlock(&mover->mutex);
    return NULL;
}

/* Signals are for the event loop's thread. */
static int start_thread(struct memory_mover *mover)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&mover->thread, NULL, run, mover);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

/* ---- the event loop's side ---- */

struct memory_mover *memory_mover_open(const struct memory_system *system, double rate)
{
    struct memory_mover *mover = calloc(1, sizeof(*mover));
    pthread_condattr_t clock;
    int rc;

    if (!mover)
        return NULL;
    mover->system = *system;
    mover->rate = rate;
    TAILQ_INIT(&mover->entries);
    pthread_mutex_init(&mover->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&mover->changed, &clock);
    pthread_condattr_destroy(&clock);
    rc = start_thread(mover);
    if (rc == 0)
        return mover;
    log_warn("memory does not follow: no thread: %s", strerror(rc));
    free(mover);
    return NULL;
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
    pthread_cond_broadcast(&mover->changed);
}

/* One chunk may wait for a disk or for a great page; that is not waited for longer: the thread is
 * then left alone with its memory. */
void memory_mover_close(struct memory_mover *mover)
{
    struct timespec until;
    struct entry *entry;
    bool stopped;
    int rc = 0;

    if (!mover)
        return;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += CLOSE_WAIT_S;
    pthread_mutex_lock(&mover->mutex);
    mover->stopping = true;
    pthread_cond_broadcast(&mover->changed);
    while (!mover->stopped && rc == 0)
        rc = pthread_cond_timedwait(&mover->changed, &mover->mutex, &until);
    stopped = mover->stopped;
    pthread_mutex_unlock(&mover->mutex);
    if (!stopped) {
        pthread_detach(mover->thread);
        return;
    }
    pthread_join(mover->thread, NULL);
    while ((entry = TAILQ_FIRST(&mover->entries)))
        drop(mover, entry);
    pthread_cond_destroy(&mover->changed);
    pthread_mutex_destroy(&mover->mutex);
    free(mover);
}

static bool same(struct wire_step_id a, struct wire_step_id b)
{
    return a.job == b.job && a.step == b.step;
}

/* The step's job, or NULL. The mutex is held. */
static struct entry *find(const struct memory_mover *mover, struct wire_step_id id)
{
    struct entry *entry;

    TAILQ_FOREACH(entry, &mover->entries, link)
    if (same(entry->job.id, id))
        return entry;
    return NULL;
}

int memory_mover_put(struct memory_mover *mover, const struct memory_job *job)
{
    struct entry *entry = calloc(1, sizeof(*entry)), *older;

    if (!entry) {
        free(job->process);
        return -1;
    }
    entry->job = *job;
    entry->progress.bytes = NAN;
    pthread_mutex_lock(&mover->mutex);
    older = find(mover, job->id);
    if (older)
        drop(mover, older);
    TAILQ_INSERT_TAIL(&mover->entries, entry, link);
    pthread_cond_broadcast(&mover->changed);
    pthread_mutex_unlock(&mover->mutex);
    return 0;
}

void memory_mover_drop(struct memory_mover *mover, struct wire_step_id id)
{
    struct entry *entry;

    pthread_mutex_lock(&mover->mutex);
    entry = find(mover, id);
    if (entry)
        drop(mover, entry);
    pthread_mutex_unlock(&mover->mutex);
}

bool memory_mover_look(struct memory_mover *mover, struct wire_step_id id,
                       struct memory_progress *progress, bool *running)
{
    struct entry *entry;

    pthread_mutex_lock(&mover->mutex);
    entry = find(mover, id);
    if (entry) {
        *progress = entry->progress;
        *running = entry->state != DONE;
    }
    pthread_mutex_unlock(&mover->mutex);
    return entry != NULL;
}
