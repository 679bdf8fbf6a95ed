/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rest - while the memory that the workers share is saturated a quarter of them rests (Adaptive
 * Scheduling, Porterfield 2012, section 3.1), where the step's page turns throttling on.
 *
 * Only a worker between two tasks rests, on whose stack none waits and whose queue is empty: it
 * holds no lock of the program, and no join needs it. What waits for its domain the others take.
 * Where no task has ended for five seconds, the running ones may wait for tasks that nobody begins:
 * nobody rests then before the saturation has ended. */
#ifndef BERTH_TASKS_REST_H
#define BERTH_TASKS_REST_H

#include "tasks/pool.h"

/* Rests here where the worker is one that is too many, until it is not. */
void rest_a_while(struct worker *me);

#endif
