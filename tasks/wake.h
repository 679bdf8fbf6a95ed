/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wake - workers that sleep because there is nothing to do, and who wakes them.
 *
 * Who adds a task wakes a sleeper only where no worker of the domain searches already; who has
 * found one and was the last to search wakes the next sleeper, since there may be more. Who goes to
 * sleep says so first, and then looks everywhere once more: either that finds the task, or who
 * added it has seen a sleeper. For that each of them needs a fence between its store and its load.
 * To add a task is frequent and to sleep is rare, so the sleeper makes it for both, by
 * membarrier(2); where the kernel has none, everybody makes his own. */
#ifndef BERTH_TASKS_WAKE_H
#define BERTH_TASKS_WAKE_H

#include "tasks/pool.h"

/* Gets membarrier(2) ready. Says whether who adds a task needs a fence of his own. */
bool wake_needs_fences(void);

/* Tells sleepers of a task on the worker's queue, which has that size. */
void wake_for_queue(struct worker *me, int64_t size);

static inline void wake_pushed(struct worker *me, int64_t size)
{
    if (__builtin_expect(me->pool->fences, false))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(load_u32(&me->pool->sleepers) != 0, false))
        wake_for_queue(me, size);
}

/* Tells them of a task in the list of a domain. */
void wake_for_list(struct berth_tasks *pool, struct domain *domain);

/* A worker has found a task, and was the last one of its domain to search: there may be more. */
void wake_next(struct berth_tasks *pool, struct domain *domain);

/* Wakes that worker if it sleeps. */
void wake_worker(struct worker *worker);

/* A worker that searches sleeps from now on, in that state, but for what it still does: what others
 * did before is seen by it, what they do later sees it. */
void wake_announce(struct worker *me, uint32_t state);

/* It does not, unless it was woken meanwhile. */
void wake_withdraw(struct worker *me);

/* It does, until it is woken. */
void wake_sleep(struct worker *me, uint32_t state);

#endif
