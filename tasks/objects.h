/* SPDX-License-Identifier: GPL-2.0-or-later */
/* objects - in which domain the objects of a task lie (Vikranth 2018, chapter 5).
 *
 * The kernel is asked by move_pages(2) for the memory nodes of some pages of the objects, all in
 * one call; the task is similar to each node by eq. 5.2. What it said is kept in a table of words
 * for a second, since pages can be moved and addresses used again. Each word has page, node and
 * time in it, so that threads read and write the table without a lock, and at worst ask again.
 *
 * A page that nobody has touched lies nowhere. Whoever places the first task that uses it decides
 * for a domain, and the table says so until the kernel knows better. */
#ifndef BERTH_TASKS_OBJECTS_H
#define BERTH_TASKS_OBJECTS_H

#include <stddef.h>

#include "tasks/berth_tasks.h"

#define OBJECTS_PAGES 16 /* of a task's objects that are asked for */

struct berth_tasks;
struct worker;

/* Returns the domain to which a task with these objects belongs: that of the most similar node; the
 * least loaded one, which they are bound to from now on, where nobody has touched any; -1: it
 * cannot be known. me: NULL: no worker asks. */
int objects_domain(struct berth_tasks *pool, struct worker *me,
                   const struct berth_task_object *objects, size_t n);

/* Forgets all: domains are others now. */
void objects_forget(struct berth_tasks *pool);

#endif
