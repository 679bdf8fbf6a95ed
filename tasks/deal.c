/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/deal.h"

#include "tasks/queues.h"

/* Returns the next domain in the worker's turn, which may be its own. */
static unsigned next_domain(struct worker *me)
{
    me->turn = me->turn + 1 < load_u32(&me->pool->domains) ? me->turn + 1 : 0;
    return me->turn;
}

static unsigned own_domain(const struct worker *me)
{
    return (unsigned)load_u32(&me->domain);
}

unsigned deal_new(struct worker *me)
{
    struct berth_tasks *pool = me->pool;
    int64_t own = deque_size(&me->deque);
    unsigned next;

    if (load_u32(&pool->domains) == 1 || !pool->stealing.domains)
        return own_domain(me);
    if (own <= TASK_QUEUE_DEEP) {
        if (me->created++ % DEAL_EVERY == 0)
            deal_oldest(me);
        return own_domain(me);
    }
    next = next_domain(me);
    return queues_have_room(pool, next, domain_of(me), own) ? next : own_domain(me);
}

void deal_oldest(struct worker *me)
{
    struct berth_tasks *pool = me->pool;
    unsigned next;
    void *task;

    if (!pool->stealing.domains)
        return;
    next = next_domain(me);
    if (next == own_domain(me) || !queues_are_waited_for(pool, next) ||
        deque_steal(&me->deque, &task) != DEQUE_TAKEN)
        return;
    count(&me->counts.dealt);
    queues_put(pool, next, task, task, 1);
}
