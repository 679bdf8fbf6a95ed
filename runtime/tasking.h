/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasking - of the threads that begin a task of OpenMP those that are too many rest first (Adaptive
 * Scheduling, Porterfield 2012, section 3.1).
 *
 * A run-time hands a task out and runs it at once, so a thread that rests before it begins has one
 * in its hand, which nobody else can run. So it does not rest where that would keep anybody
 * waiting:
 *
 * - It rests only where it has come to a barrier, or to the end of a region: on a stack on which no
 *   task waits, nor the region's own code, which may hold a lock.
 * - It rests only while as many others work as should, and gets up within POLL_NS when fewer do.
 * - It gets up as soon when who has created the task, or has begun the taskgroup that the task
 *   belongs to, waits for it with nothing else to do.
 * - Where no task begins or ends for five seconds nobody rests in the region any more.
 *
 * Who waits for what is told by slots, one of a thread, which are never freed. A thread that gets
 * none, because a thousand others have been there before it, does not rest. */
#ifndef BERTH_RUNTIME_TASKING_H
#define BERTH_RUNTIME_TASKING_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/throttle.h"

/* A task, or a taskgroup, that somebody may wait for. */
struct tasking_awaited {
    uint64_t id;   /* of no other in the process */
    uint32_t slot; /* of the thread that waits for it; 0: not known */
};

/* What is known of a task before it runs: it lies before its arguments. */
struct tasking_head {
    void *function;
    struct throttle_team *team;
    struct tasking_awaited parent, group;
};

/* What a thread was before, on its stack. */
struct tasking_before {
    struct throttle_team *team, *works_for;
    uint64_t task, awaited;
    uint32_t groups, stacked;
    bool works;
};

/* The team of the region that the calling thread is in; NULL: none whose threads may rest. */
struct throttle_team *tasking_team(void);

/* The thread enters the region of a team, and returns the one it was in before. */
struct throttle_team *tasking_enter(struct throttle_team *team);

/* Fills the head of a task that the thread creates in that region. */
void tasking_created(struct tasking_head *head, void *function);

/* The thread begins the task, after it has rested or not, and has ended it. */
void tasking_begin(const struct tasking_head *head, struct tasking_before *before);
void tasking_end(const struct tasking_before *before);

/* The thread goes into the run-time, which may run tasks on its stack; it waits there for the
 * children of its task, or for its innermost taskgroup; and comes back. */
enum tasking_why { TASKING_CREATES, TASKING_WAITS, TASKING_WAITS_GROUP };
void tasking_go(enum tasking_why why, struct tasking_before *before);
void tasking_come(const struct tasking_before *before);

/* A taskgroup begins, and has ended. */
void tasking_group_begin(void);
void tasking_group_end(void);

#endif
