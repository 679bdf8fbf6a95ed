/* SPDX-License-Identifier: GPL-2.0-or-later */
/* idle - a worker that has nothing to do searches for a moment, and then sleeps until it is woken.
 */
#ifndef BERTH_TASKS_IDLE_H
#define BERTH_TASKS_IDLE_H

#include "tasks/pool.h"
#include "tasks/steal.h"

/* Returns a task, which the worker has to run; NULL: it need not wait any longer. */
struct task *idle_until(struct worker *me, const struct want *want);

#endif
