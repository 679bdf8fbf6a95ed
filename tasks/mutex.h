/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mutex - what a mutex of berth_mutex.h is: a latch, which is the lock, and a cohort before it. */
#ifndef BERTH_TASKS_MUTEX_H
#define BERTH_TASKS_MUTEX_H

#include <stdbool.h>

#include "runtime/cohort.h"
#include "runtime/futex.h"
#include "tasks/berth_mutex.h"

struct berth_mutex {
    struct cohort cohort;
    struct latch latch;
    bool rests; /* while the process has more threads than CPUs */
    unsigned home;
    struct berth_mutex *next; /* in the list of its home that nobody uses */
};

#endif
