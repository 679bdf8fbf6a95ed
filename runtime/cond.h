/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cond - a condition variable that is distributed over domains (FlexThread, Wang 2015, 6.5): a
 * thread waits in the queue of its domain, at a word of its own, and is woken out of the domain of
 * who signals where there is one. */
#ifndef BERTH_RUNTIME_COND_H
#define BERTH_RUNTIME_COND_H

#include <pthread.h>
#include <time.h>

struct cond;

/* Returns a condition, or NULL: there is no memory. For cond_end(). This and the others keep errno.
 */
struct cond *cond_make(void);

/* Gives the mutex, which the caller has, waits for a signal, and locks the mutex again; at most
 * until a time of the clock, where one is given. As pthread_cond_clockwait(): returns 0, ETIMEDOUT,
 * or what the mutex's functions return; is a cancellation point, and who is cancelled there has the
 * mutex and takes no signal away. */
int cond_wait(struct cond *cond, pthread_mutex_t *mutex, clockid_t clock,
              const struct timespec *until);

/* Wakes one of the threads that wait, or all of them; none is none. Those who began to wait after
 * others were woken come after all who waited then. */
void cond_signal(struct cond *cond);
void cond_broadcast(struct cond *cond);

/* Ends a condition, also when threads that were woken have not come out of cond_wait() yet. One
 * that threads wait for is left to them. */
void cond_end(struct cond *cond);

#endif
