/* SPDX-License-Identifier: GPL-2.0-or-later */
/* worker - a thread of the pool: it runs tasks until the pool stops, and while a task of its own
 * waits. Tasks it waits with are stacked on each other. A task only waits for tasks that began
 * after it, or have not begun, and so does whatever is stacked: there is no circle, and the one
 * that began last can go on. Where half of the stack is used only tasks are stacked that the
 * waiting one waits for, which cannot be more than the program's own depth. */
#ifndef BERTH_TASKS_WORKER_H
#define BERTH_TASKS_WORKER_H

#include "tasks/pool.h"

/* Runs other tasks until all that the record waits for have ended. */
void worker_wait(struct worker *me, struct record *record);

/* Runs a task, and ends it when it has no children left. */
void worker_run(struct worker *me, struct task *task);

/* Runs a task here and now, for which there is no memory. */
void worker_run_at_once(struct worker *me, berth_task_function *function, const void *arguments);

/* Works until the pool stops, in a thread that stands where it is to stand. */
void worker_work(struct worker *me);

#endif
