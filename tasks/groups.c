/* SPDX-License-Identifier: GPL-2.0-or-later */
/* groups - tasks that are waited for together, by the task or the thread that made their group. */
#include <errno.h>
#include <stdlib.h>

#include "tasks/create.h"
#include "tasks/forks.h"
#include "tasks/worker.h"

struct berth_task_group {
    struct record record; /* the maker's child, but not counted as one */
    struct berth_tasks *pool;
};

/* Returns the worker that calls, if it is one of the pool's. */
static struct worker *worker_in(const struct berth_tasks *pool)
{
    return forks_self && forks_self->pool == pool ? forks_self : NULL;
}

static void group_begin(struct berth_task_group *group, struct berth_tasks *pool)
{
    struct worker *me = worker_in(pool);

    record_begin(&group->record, me ? me->current : NULL, me);
    group->pool = pool;
}

struct berth_task_group *berth_task_group_new(struct berth_tasks *pool)
{
    struct berth_task_group *group;

    if (!pool)
        pool = forks_self ? forks_self->pool : NULL;
    if (!pool) {
        errno = EINVAL;
        return NULL;
    }
    group = malloc(sizeof(*group));
    if (group) {
        group_begin(group, pool);
        atomic_fetch_add(&pool->references, 1);
    }
    return group;
}

void berth_task_group_add(struct berth_task_group *group, const struct berth_task_object *objects,
                          size_t n, berth_task_function *function, const void *arguments,
                          size_t bytes)
{
    struct worker *me = worker_in(group->pool);
    const struct create create = {
        .function = function, .arguments = arguments, .bytes = bytes, .objects = objects, .n = n};

    if (me)
        create_inside(me, &group->record, &create);
    else if (forks_is_ours(group->pool) && !atomic_load(&group->pool->stopping))
        create_outside(group->pool, &group->record, &create);
    else
        function(arguments);
}

static void wait_outside(struct berth_tasks *pool, const struct record *record)
{
    pthread_mutex_lock(&pool->outside);
    while (!record_is_done(record))
        pthread_cond_wait(&pool->news, &pool->outside);
    pthread_mutex_unlock(&pool->outside);
}

int berth_task_group_wait(struct berth_task_group *group)
{
    struct worker *me = worker_in(group->pool);

    if (!forks_is_ours(group->pool)) {
        errno = ECANCELED;
        return -1;
    }
    if (group->record.home != me || (me && group->record.parent != me->current)) {
        errno = EDEADLK;
        return -1;
    }
    if (me)
        worker_wait(me, &group->record);
    else
        wait_outside(group->pool, &group->record);
    return 0;
}

int berth_task_group_free(struct berth_task_group *group)
{
    int result = group ? berth_task_group_wait(group) : 0;
    int why = errno;

    if (group && (result == 0 || why == ECANCELED)) {
        pool_release(group->pool);
        free(group);
    }
    errno = why;
    return result;
}

void berth_tasks_run(struct berth_tasks *pool, berth_task_function *function, const void *arguments,
                     size_t bytes)
{
    struct berth_task_group group;

    group_begin(&group, pool);
    berth_task_group_add(&group, NULL, 0, function, arguments, bytes);
    berth_task_group_wait(&group);
}
