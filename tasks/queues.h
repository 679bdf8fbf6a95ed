/* SPDX-License-Identifier: GPL-2.0-or-later */
/* queues - where tasks wait: on the queue of the worker that created them, or in the list of a
 * domain, in their order, when they come from outside or belong to another domain. */
#ifndef BERTH_TASKS_QUEUES_H
#define BERTH_TASKS_QUEUES_H

#include "tasks/pool.h"
#include "tasks/wake.h"

/* Says of the worker's queue, which has that size, whether it is a victim. */
static inline void queue_note_size(struct worker *me, int64_t size)
{
    _Atomic uint8_t *bit = &me->pool->stealable[me->number];
    bool was = atomic_load_explicit(bit, memory_order_relaxed),
         is = threshold_is_victim(&me->threshold, was, size);

    if (__builtin_expect(is != was, false))
        atomic_store_explicit(bit, is, memory_order_relaxed);
}

/* Adds a task to the worker's own queue. Says whether there was memory for it. */
static inline bool queue_push(struct worker *me, struct task *task)
{
    int64_t size = deque_push(&me->deque, task);

    if (__builtin_expect(size < 0, false))
        return false;
    me->pushed++;
    queue_note_size(me, size);
    wake_pushed(me, size);
    return true;
}

/* Takes the newest task of the worker's own queue; NULL: there is none. */
static inline struct task *queue_pop(struct worker *me)
{
    int64_t left;
    struct task *task = deque_pop(&me->deque, &left);

    queue_note_size(me, left);
    return task;
}

/* Says whether the list of a domain is so long that no more tasks should be created for it. */
static inline bool queues_are_full(const struct berth_tasks *pool, unsigned domain)
{
    return load_u32(&pool->domain[domain]->waiting) >= TASK_LIST_MOST;
}

/* Says whether somebody in the domain has nothing to do, and no task waits in its list for him. */
static inline bool queues_are_waited_for(const struct berth_tasks *pool, unsigned domain)
{
    const struct domain *of = pool->domain[domain];

    return load_u32(&of->waiting) < load_u32(&of->searching) + load_u32(&of->sleepers);
}

/* Says whether a task more is of use in the list of a domain: somebody there waits for one, or
 * fewer wait there for each worker than of the `own` ones of the creator, which are more than it
 * has in a tree. */
static inline bool queues_have_room(const struct berth_tasks *pool, unsigned domain,
                                    const struct domain *mine, int64_t own)
{
    const struct domain *of = pool->domain[domain];

    return queues_are_waited_for(pool, domain) ||
           load_u32(&of->waiting) * load_u32(&mine->members) <
               (own - TASK_QUEUE_DEEP) * load_u32(&of->members);
}

/* Adds a list of n tasks, linked by `next`, to that of a domain. */
void queues_put(struct berth_tasks *pool, unsigned domain, struct task *first, struct task *last,
                unsigned n);

/* Takes the oldest task of a domain's list; NULL: there is none. */
struct task *queues_take(struct domain *domain);

/* Takes one that the record waits for, directly or not. */
struct task *queues_take_under(struct domain *domain, const struct record *record);

/* Says whether the record waits for the task, directly or not. */
bool queues_is_under(const struct task *task, const struct record *record);

/* Returns how many tasks wait in a domain. */
int64_t queues_tasks(const struct berth_tasks *pool, unsigned domain);

/* Returns that by its workers. */
double queues_load(const struct berth_tasks *pool, unsigned domain);

/* Returns the domain with the least load, in turn where it is the same. */
unsigned queues_least(struct berth_tasks *pool);

#endif
