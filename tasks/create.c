/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/create.h"

#include <stdlib.h>
#include <string.h>

#include "tasks/deal.h"
#include "tasks/memory.h"
#include "tasks/objects.h"
#include "tasks/queues.h"
#include "tasks/worker.h"

/* Gives the task its copy of the arguments. Says whether there was memory for them. */
static bool copy_arguments(struct task *task, const void *arguments, size_t bytes)
{
    void *copy = bytes <= sizeof(task->copy) ? task->copy : malloc(bytes);

    if (!copy)
        return false;
    if (bytes)
        memcpy(copy, arguments, bytes);
    task->arguments = copy;
    return true;
}

/* The child is one from now on. */
static void enter(struct berth_tasks *pool, const struct worker *me, struct task *task,
                  struct record *parent, const struct create *create)
{
    task->function = create->function;
    record_begin(&task->record, parent, NULL);
    record_created(parent, me);
    if (!parent->home)
        atomic_fetch_add_explicit(&pool->pending, 1, memory_order_relaxed);
}

/* Says whether the task waits in a queue now: it does not where there are many already, or no
 * memory for one more. */
static bool put_inside(struct worker *me, struct task *task, const struct create *create)
{
    int domain = create->n ? objects_domain(me->pool, me, create->objects, create->n) : -1;

    task->record.placed = domain;
    if (domain >= 0)
        count(&me->counts.placed);
    else
        domain = (int)deal_new(me);
    if (domain == load_u32(&me->domain))
        return deque_size(&me->deque) < TASK_QUEUE_MOST && queue_push(me, task);
    if (queues_are_full(me->pool, (unsigned)domain))
        return false;
    if (task->record.placed < 0)
        count(&me->counts.dealt);
    queues_put(me->pool, (unsigned)domain, task, task, 1);
    return true;
}

/* Makes a task; NULL: there is no memory. */
static struct task *make_inside(struct worker *me, const struct create *create)
{
    struct task *task = memory_task(me);

    if (task && !copy_arguments(task, create->arguments, create->bytes)) {
        memory_free(me, task);
        return NULL;
    }
    return task;
}

void create_inside(struct worker *me, struct record *parent, const struct create *create)
{
    struct task *task = make_inside(me, create);

    if (!task) {
        worker_run_at_once(me, create->function, create->arguments);
        return;
    }
    enter(me->pool, me, task, parent, create);
    if (!put_inside(me, task, create))
        worker_run(me, task);
}

void create_outside(struct berth_tasks *pool, struct record *parent, const struct create *create)
{
    int domain = create->n ? objects_domain(pool, NULL, create->objects, create->n) : -1;
    unsigned put = domain < 0 ? queues_least(pool) : (unsigned)domain;
    struct task *task =
        queues_are_full(pool, put) ? NULL : aligned_alloc(TASKS_LINE, sizeof(*task));

    if (!task || !copy_arguments(task, create->arguments, create->bytes)) {
        free(task);
        create->function(create->arguments);
        return;
    }
    task->owner = NULL;
    enter(pool, NULL, task, parent, create);
    task->record.placed = domain;
    queues_put(pool, put, task, task, 1);
}
