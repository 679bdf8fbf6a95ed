/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deal - tasks without an object are dealt to the domains in turn (Vikranth 2018, section 3.3 and
 * Algorithm 4, line 3), so that hardly any has to be stolen from another one.
 *
 * Where somebody in another domain has nothing to do, he gets the oldest task of the queue: in a
 * tree the largest part of it, with which that domain is busy for long. From a long queue, as
 * programs have that create all of their tasks in one place, the newest ones go. */
#ifndef BERTH_TASKS_DEAL_H
#define BERTH_TASKS_DEAL_H

#include "tasks/pool.h"

#define DEAL_EVERY 4 /* tasks of a short queue: at so many of them is it looked who needs one */

/* Returns the domain that a new task is dealt to: the worker's own, or another one which has room
 * for more of a long queue. */
unsigned deal_new(struct worker *me);

/* Deals the oldest task of the worker's queue to another domain where somebody has nothing to do.
 */
void deal_oldest(struct worker *me);

/* The same, now and then, for who has taken a task from the queue. */
static inline void deal_now_and_then(struct worker *me)
{
    if (me->turns % DEAL_EVERY == 0 && load_u32(&me->pool->domains) > 1)
        deal_oldest(me);
}

#endif
