/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth_mutex - mutexes that stay on a memory node while its threads wait for them, and with them
 * the memory that they guard (cohort locks: Dice 2012; Vikranth 2018, section 6.3).
 *
 * Whose threads wait on several nodes has the lock handed over on one of them first, up to a bound,
 * then to the next node, in the order in which these asked. A mutex lies on the node of the thread
 * that makes it, and what the waiters of a node share lies on theirs (section 6.2). Where all
 * memory is one node, the nodes are last level caches.
 *
 *     struct berth_mutex *mutex = berth_mutex_new(0);
 *
 *     berth_mutex_lock(mutex);
 *     ...
 *     berth_mutex_unlock(mutex);
 *     berth_mutex_free(mutex);
 *
 * Any thread may use them, also the tasks of berth_tasks.h. A task that holds one does not wait for
 * its children. They are of one process, and a child of fork() does not use its parent's.
 *
 * Build with `pkg-config --cflags --libs berth-tasks`. */
#ifndef BERTH_MUTEX_H
#define BERTH_MUTEX_H

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_MUTEX_BOUND_MAX 1000000

struct berth_mutex;

/* Makes a mutex that nobody has. bound: how many hand-overs there are on a node, one after the
 * other, while threads of another node wait. 0: 64; and while the process has more threads than
 * CPUs the lock goes to whoever comes first, since to wait for one thread that does not run would
 * hold up all. Returns NULL and errno: ENOMEM; EINVAL, a larger bound than BERTH_MUTEX_BOUND_MAX.
 */
struct berth_mutex *berth_mutex_new(unsigned bound);

/* Waits until the caller has the mutex, which it must not have already. No cancellation point. */
void berth_mutex_lock(struct berth_mutex *mutex);

/* Takes the mutex if nobody has it. Returns 0, or EBUSY. */
int berth_mutex_trylock(struct berth_mutex *mutex);

/* Gives the mutex back. Some thread must have it; it need not be the caller's own. */
void berth_mutex_unlock(struct berth_mutex *mutex);

/* Frees a mutex that nobody has, or waits for; NULL is fine. */
void berth_mutex_free(struct berth_mutex *mutex);

#ifdef __cplusplus
}
#endif

#endif
