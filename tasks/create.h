/* SPDX-License-Identifier: GPL-2.0-or-later */
/* create - tasks are made and put where they wait. */
#ifndef BERTH_TASKS_CREATE_H
#define BERTH_TASKS_CREATE_H

#include "tasks/pool.h"

struct create {
    berth_task_function *function;
    const void *arguments;
    size_t bytes;
    const struct berth_task_object *objects;
    size_t n;
};

/* Creates a child of the record, in a task of the record's pool. */
void create_inside(struct worker *me, struct record *parent, const struct create *create);

/* Creates one in any other thread. The record was made there, too. */
void create_outside(struct berth_tasks *pool, struct record *parent, const struct create *create);

#endif
