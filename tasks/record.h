/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record - what a task or a group knows of the tasks that it waits for.
 *
 * Most children are created, run and ended by the worker that runs their parent, its `home`: there
 * they are counted without a locked instruction, in `local`. Whoever ends one that was stolen
 * counts in `elsewhere`. So the tasks that have not ended are local - elsewhere.
 *
 * A record is settled before nobody looks at it for a while: because its worker sleeps, or because
 * its function has returned and it is ended by the last of its children. Then `local` goes over
 * into `elsewhere`, which becomes minus the number of those that have not ended, and so exactly one
 * of them finds out that it was the last one. RECORD_RETURNED, far above all numbers, tells the two
 * cases apart.
 *
 * A record that nobody's worker made (home is NULL) is counted in `elsewhere` only. */
#ifndef BERTH_TASKS_RECORD_H
#define BERTH_TASKS_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_RETURNED ((int64_t)1 << 40)

struct worker;

struct record {
    struct record
        *parent; /* whose child it is; NULL: it is a group that was made outside of tasks */
    struct worker *home;
    _Atomic int64_t elsewhere;
    int32_t local;  /* of the home's */
    int32_t placed; /* the domain that the task was created for; -1: any */
};

/* What has come to pass when a child was counted. */
enum record_news {
    RECORD_GOES_ON,
    RECORD_MAY_WAKE, /* all have ended, and somebody may wait for that */
    RECORD_COMPLETE  /* it has returned, and was waiting for this one only: the caller ends it */
};

static inline void record_begin(struct record *record, struct record *parent, struct worker *home)
{
    record->parent = parent;
    record->home = home;
    atomic_init(&record->elsewhere, 0);
    record->local = 0;
    record->placed = -1;
}

/* Counts a child that is created by that worker; NULL: by no worker. */
static inline void record_created(struct record *record, const struct worker *me)
{
    if (record->home && record->home == me)
        record->local++;
    else
        atomic_fetch_sub_explicit(&record->elsewhere, 1, memory_order_relaxed);
}

/* Counts a child that was ended by that worker. The record may be gone when this has returned
 * RECORD_MAY_WAKE. */
static inline enum record_news record_ended(struct record *record, const struct worker *me)
{
    int64_t was;

    if (record->home == me &&
        atomic_load_explicit(&record->elsewhere, memory_order_relaxed) < RECORD_RETURNED / 2) {
        record->local--;
        return RECORD_GOES_ON;
    }
    was = atomic_fetch_add_explicit(&record->elsewhere, 1, memory_order_acq_rel);
    if (was == RECORD_RETURNED - 1)
        return RECORD_COMPLETE;
    return was == -1 ? RECORD_MAY_WAKE : RECORD_GOES_ON;
}

/* Home only (or, where there is none, anybody): says whether all have ended. */
static inline bool record_is_done(const struct record *record)
{
    return record->local == atomic_load_explicit(&record->elsewhere, memory_order_acquire);
}

/* Home only: settles. */
static inline void record_settle(struct record *record)
{
    atomic_fetch_sub_explicit(&record->elsewhere, record->local, memory_order_acq_rel);
    record->local = 0;
}

/* Home only: its function has returned. Says whether it is complete; else its last child will be
 * told so. */
static inline bool record_returned(struct record *record)
{
    int64_t more = RECORD_RETURNED - record->local;

    return record_is_done(record) ||
           atomic_fetch_add_explicit(&record->elsewhere, more, memory_order_acq_rel) + more ==
               RECORD_RETURNED;
}

#endif
