/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks - creating tasks. */
#include "tasks/create.h"

#include "tasks/forks.h"
#include "tasks/worker.h"

void berth_task(berth_task_function *function, const void *arguments, size_t bytes)
{
    struct worker *me = forks_self;
    const struct create create = {.function = function, .arguments = arguments, .bytes = bytes};

    if (me)
        create_inside(me, me->current, &create);
    else
        function(arguments);
}

void berth_task_on_all(const struct berth_task_object *objects, size_t n,
                       berth_task_function *function, const void *arguments, size_t bytes)
{
    struct worker *me = forks_self;
    const struct create create = {
        .function = function, .arguments = arguments, .bytes = bytes, .objects = objects, .n = n};

    if (me)
        create_inside(me, me->current, &create);
    else
        function(arguments);
}

void berth_task_on(const void *object, size_t object_bytes, berth_task_function *function,
                   const void *arguments, size_t bytes)
{
    const struct berth_task_object one = {.address = object, .bytes = object_bytes};

    berth_task_on_all(&one, 1, function, arguments, bytes);
}

void berth_task_wait(void)
{
    struct worker *me = forks_self;

    if (me)
        worker_wait(me, me->current);
}

int berth_task_domain(void)
{
    return forks_self ? (int)load_u32(&forks_self->domain) : -1;
}

int berth_task_worker(void)
{
    return forks_self ? (int)forks_self->number : -1;
}
