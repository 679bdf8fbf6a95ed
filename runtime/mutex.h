/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mutex - mutexes that threads of several memory nodes fight for are handed over within a node, as
 * the page says (RT_COHORT, RT_FLEX): see cohort.h. */
#ifndef BERTH_RUNTIME_MUTEX_H
#define BERTH_RUNTIME_MUTEX_H

#include <pthread.h>

/* To be called, with the mutex locked by the caller, before something of glibc unlocks it that is
 * not pthread_mutex_unlock() and so does not come by here: a wait for a condition. What glibc locks
 * by itself needs nothing. Any kind of mutex. Keeps errno. */
void mutex_before_wait(pthread_mutex_t *mutex);

#endif
