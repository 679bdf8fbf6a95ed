/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mover - see mover.h
 *
 * A job belongs to the thread that does it (base/hands.h). The event loop looks at how far it is
 * under the hands' lock, as long as it was not given up. */
#include "packer/memory/mover.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "packer/base/clock.h"
#include "packer/base/hands.h"
#include "packer/base/log.h"

/* A job, as a thread has it. */
struct errand {
    struct memory_mover *mover;
    struct memory_job job;
    struct memory_finder finder;
    struct memory_progress progress; /* under the lock */
};

/* The same, as the event loop knows it. */
struct entry {
    TAILQ_ENTRY(entry) link;
    struct wire_step_id id;
    struct hands_work *work;         /* NULL: it is over */
    const struct errand *errand;     /* while there is work */
    struct memory_progress progress; /* as it was seen last */
};

struct memory_mover {
    struct memory_system system;
    struct hands *hands;
    double rate;                 /* bytes per second; under the lock */
    TAILQ_HEAD(, entry) entries; /* one for a step, in order of arrival */
};

static void errand_free(void *arg)
{
    struct errand *errand = arg;

    free(errand->job.process);
    memory_origin_release(errand->job.origin);
    if (errand->finder.release)
        errand->finder.release(errand->finder.arg);
    free(errand);
}

/* ---- the thread ---- */

/* Who paces the job in hand. */
struct pacer {
    struct errand *errand;
    struct hands_hand *hand;
    double began_s; /* the chunk before this one */
};

/* Waits until the last chunk's share of time has passed; false when nothing is to follow. */
static bool pace(void *arg, const struct memory_progress *progress, double wait_s)
{
    struct pacer *pacer = arg;
    struct memory_mover *mover = pacer->errand->mover;
    struct memory_progress *before = &pacer->errand->progress;
    double bytes;

    if (!progress)
        return hands_go_on(pacer->hand);
    hands_lock(mover->hands);
    bytes = progress->moved + progress->failed - before->moved - before->failed;
    *before = *progress;
    while (hands_rest(pacer->hand, pacer->began_s + fmax(bytes / mover->rate, wait_s)))
        ;
    hands_unlock(mover->hands);
    pacer->began_s = clock_s();
    return hands_go_on(pacer->hand);
}

/* Does a job, without the lock. */
static void work(struct errand *errand, struct hands_hand *hand, struct memory_progress *progress)
{
    struct pacer pacer = {errand, hand, clock_s()};
    struct memory_finder *finder = &errand->finder;

    if (!finder->find || finder->find(finder->arg, &errand->job) == 0) {
        memory_pages_move(&errand->mover->system, &errand->job, pace, &pacer, progress);
        return;
    }
    *progress = (struct memory_progress){.bytes = NAN};
    snprintf(progress->why, sizeof(progress->why), "its processes cannot be listed: %s",
             strerror(errno));
}

static void move_errand(void *arg, struct hands_hand *hand)
{
    struct errand *errand = arg;
    struct memory_progress progress;

    work(errand, hand, &progress);
    hands_lock(errand->mover->hands);
    errand->progress = progress;
    hands_unlock(errand->mover->hands);
}

static const struct hands_task moving = {move_errand, errand_free};

/* ---- the event loop's side ---- */

struct memory_mover *memory_mover_open(const struct memory_system *system, double rate)
{
    const struct hands_limits limits = {system->limit_s, HANDS_HUNG_MAX, HANDS_HUNG_USER_MAX};
    struct memory_mover *mover = calloc(1, sizeof(*mover));

    if (!mover)
        return NULL;
    mover->system = *system;
    mover->rate = rate;
    TAILQ_INIT(&mover->entries);
    mover->hands = hands_open("move memory", &limits);
    if (mover->hands)
        return mover;
    free(mover);
    return NULL;
}

void memory_mover_pace(struct memory_mover *mover, double rate)
{
    hands_lock(mover->hands);
    mover->rate = rate;
    hands_changed(mover->hands);
    hands_unlock(mover->hands);
}

static void drop(struct memory_mover *mover, struct entry *entry)
{
    TAILQ_REMOVE(&mover->entries, entry, link);
    hands_drop(mover->hands, entry->work);
    free(entry);
}

/* One chunk may hang, waiting for a disk, for a great page or for the process. */
void memory_mover_close(struct memory_mover *mover)
{
    struct entry *entry;

    if (!mover)
        return;
    while ((entry = TAILQ_FIRST(&mover->entries)))
        drop(mover, entry);
    if (hands_close(mover->hands))
        free(mover);
}

/* The step's job, or NULL. */
static struct entry *find_entry(const struct memory_mover *mover, struct wire_step_id id)
{
    struct entry *entry;

    TAILQ_FOREACH(entry, &mover->entries, link)
    if (entry->id.job == id.job && entry->id.step == id.step)
        return entry;
    return NULL;
}

static struct errand *errand_new(struct memory_mover *mover, const struct memory_job *job,
                                 const struct memory_finder *finder)
{
    struct errand *errand = calloc(1, sizeof(*errand));

    if (!errand) {
        free(job->process);
        memory_origin_release(job->origin);
        if (finder && finder->release)
            finder->release(finder->arg);
        return NULL;
    }
    errand->mover = mover;
    errand->job = *job;
    if (finder)
        errand->finder = *finder;
    errand->progress.bytes = NAN;
    return errand;
}

int memory_mover_put(struct memory_mover *mover, const struct memory_job *job,
                     const struct memory_finder *finder)
{
    struct errand *errand = errand_new(mover, job, finder);
    struct entry *entry = errand ? calloc(1, sizeof(*entry)) : NULL, *older;

    if (!entry) {
        if (errand)
            errand_free(errand);
        return -1;
    }
    older = find_entry(mover, job->id);
    if (older)
        drop(mover, older);
    entry->id = job->id;
    entry->progress = errand->progress;
    entry->errand = errand;
    entry->work = hands_put(mover->hands, job->user, &moving, errand);
    if (!entry->work) {
        free(entry);
        return -1;
    }
    TAILQ_INSERT_TAIL(&mover->entries, entry, link);
    return 0;
}

void memory_mover_drop(struct memory_mover *mover, struct wire_step_id id)
{
    struct entry *entry = find_entry(mover, id);

    if (entry)
        drop(mover, entry);
}

/* It was given up, or nobody may try. */
static void fail(struct memory_mover *mover, struct entry *entry, enum hands_state state)
{
    hands_drop(mover->hands, entry->work);
    snprintf(entry->progress.why, sizeof(entry->progress.why), "%s",
             state == HANDS_HUNG ? "a process of it lets nobody look at its memory"
                                 : "threads hang that move memory: of its user, or too many");
    if (state == HANDS_HUNG)
        log_warn("step %u.%u: its memory does not follow: %s", entry->id.job, entry->id.step,
                 entry->progress.why);
}

/* Sees how far it is. */
static void see(struct memory_mover *mover, struct entry *entry)
{
    enum hands_state state = entry->work ? hands_look(mover->hands, entry->work) : HANDS_DONE;

    if (!entry->work)
        return;
    if (state == HANDS_WAIT || state == HANDS_DONE) {
        hands_lock(mover->hands);
        entry->progress = entry->errand->progress;
        hands_unlock(mover->hands);
    }
    if (state == HANDS_WAIT)
        return;
    if (state == HANDS_DONE)
        errand_free(hands_take(mover->hands, entry->work));
    else
        fail(mover, entry, state);
    entry->work = NULL;
}

bool memory_mover_look(struct memory_mover *mover, struct wire_step_id id,
                       struct memory_progress *progress, bool *running)
{
    struct entry *entry = find_entry(mover, id);

    if (!entry)
        return false;
    see(mover, entry);
    *progress = entry->progress;
    *running = entry->work != NULL;
    return true;
}

void memory_mover_wait(struct memory_mover *mover, struct wire_step_id id, double until_s)
{
    const struct entry *entry = find_entry(mover, id);

    if (entry && entry->work)
        hands_wait(mover->hands, entry->work, until_s);
}
