/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory - of tasks: each worker has pieces of its own, which it is the first to write to. One that
 * another worker has ended goes back to its owner, so that neither has more and more of them. */
#ifndef BERTH_TASKS_MEMORY_H
#define BERTH_TASKS_MEMORY_H

#include "tasks/pool.h"

/* Fills the worker's list of free tasks, from what others gave back or with new ones. -1: there is
 * no memory. */
int memory_refill(struct worker *me);

/* Frees the tasks of the worker, none of which is in use. */
void memory_end(struct worker *me);

/* Gives a task another thread's worker owns, or malloc(), back. */
void memory_give_back(struct task *task);

/* Returns a task's memory; NULL: there is none. */
static inline struct task *memory_task(struct worker *me)
{
    struct task *task;

    if (__builtin_expect(!me->free && memory_refill(me) < 0, false))
        return NULL;
    task = me->free;
    me->free = task->next;
    return task;
}

static inline void memory_free(struct worker *me, struct task *task)
{
    if (__builtin_expect(task->owner != me, false)) {
        memory_give_back(task);
        return;
    }
    task->next = me->free;
    me->free = task;
}

#endif
