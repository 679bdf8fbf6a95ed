/* SPDX-License-Identifier: GPL-2.0-or-later */
/* throttle - how many threads of a program should run while a resource that they share is saturated
 * (Adaptive Scheduling, Porterfield 2012, section 3.1).
 *
 * One of four threads rests when contention is detected, all run again when it has subsided;
 * between the two nothing changes.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_TASKS_THROTTLE_H
#define BERTH_MODELS_TASKS_THROTTLE_H

#include "models/tasks/saturation.h"

#define THROTTLE_PART 4 /* one thread of so many rests */

/* Returns how many of `all` threads should run, of which `correct` should until now. A state that
 * is not known has them run: nobody is held back by what is not measured. */
unsigned throttle_correct(enum saturation_state state, unsigned all, unsigned correct);

#endif
