/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steal - where a worker that has nothing to do finds a task (Vikranth 2018, sections 3.5 and 4.4):
 * in its domain's list, on the queue of a victim of its domain, in another domain. Only one worker
 * of a domain at a time looks in others. It brings more, too: a task for each of its own domain who
 * has nothing to do (Porterfield 2012, section 2.3), or half of what waits there, at most 64.
 *
 * It goes where more tasks wait than there are workers, who take up that many next.
 *
 * The thesis lets a queue below the threshold alone. Then a program that creates one task at a time
 * would run on one core: before it sleeps, a worker takes what there is, in another domain only
 * where nobody there has nothing to do himself. */
#ifndef BERTH_TASKS_STEAL_H
#define BERTH_TASKS_STEAL_H

#include "tasks/pool.h"

/* What a worker that has nothing to do waits for. */
struct want {
    struct record *record; /* until all of its tasks have ended; NULL: until the pool stops */
    bool bounded;          /* only what the record waits for may run: the stack is deep */
};

/* Returns a task that may run now; NULL: none was found. last: before the worker sleeps. */
struct task *steal_look(struct worker *me, const struct want *want, bool last);

/* Says whether there are tasks in the domain that anybody may steal. */
bool steal_is_any(const struct berth_tasks *pool, const struct domain *domain);

#endif
