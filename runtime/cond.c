/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cond - see cond.h.
 *
 * A waiter is on its thread's stack. It is put in a queue before the mutex is given, so that who
 * has the mutex after it finds it. A signal takes it out and sets its word; one waiter is one
 * signal's, and a signal is of nobody who came later. From then on nothing of it is touched, for
 * its thread may go; a futex that is not there any more is woken in vain.
 *
 * `waiting` has a bit for each domain in whose queue somebody is. It changes with the queue's latch
 * held, and only when the first comes and when the last goes: without waiters a signal only reads
 * it.
 *
 * A signal prefers its own domain, but only among those who came before `now`, which goes on when
 * none of them is left: so who was woken and waits again, as the program signals once for each that
 * waited, does not take the place of one who still does, and nobody is left for ever.
 *
 * A thread whose time is over, or that is cancelled, takes itself out of the queue. If it is not
 * there any more it was signalled: then it does as if it had been in time, or hands the signal on.
 * It may look for itself when the condition has ended already, and another one has its memory:
 * therefore the memory stays a condition's, with its queues, and a latch is never set anew. */
#include "runtime/cond.h"

#include <stdbool.h>
#include <stddef.h>

#include "runtime/futex.h"
#include "runtime/lines.h"
#include "runtime/nodes.h"

#define TYPES 3 /* of a mutex's __kind */

enum { NOT_ASLEEP, ASLEEP, SIGNALLED };

struct waiter {
    struct waiter *next, *previous;
    struct cond *cond;
    struct queue *queue;
    /* With the queue's latch held. */
    bool queued;
    uint32_t came; /* the condition's time */
    pthread_mutex_t *mutex;
    _Atomic uint32_t word;
};

struct queue {
    void *of_lines;
    uint32_t bit;
    struct latch latch;
    struct waiter *first, *last;
};

struct cond {
    void *of_lines;
    unsigned domain;
    _Alignas(64) _Atomic uint32_t waiting;
    _Atomic uint32_t now;
    _Alignas(64) _Atomic(struct queue *) queue[NODES_MAX];
};

_Static_assert(sizeof(struct queue) <= LINES_BYTES_QUEUE, "a queue is a piece");
_Static_assert(sizeof(struct cond) <= LINES_BYTES_COND, "a condition is a piece");
_Static_assert(NODES_MAX <= 32, "a word has a bit for each domain");

/* Returns the queue of the domain; NULL: there is no memory. */
static struct queue *find_queue(struct cond *cond, unsigned domain)
{
    struct queue *queue = atomic_load_explicit(&cond->queue[domain], memory_order_acquire), *made;

    if (queue)
        return queue;
    made = lines_take(domain, LINES_QUEUE);
    if (!made)
        return NULL;
    made->bit = UINT32_C(1) << domain;
    if (atomic_compare_exchange_strong(&cond->queue[domain], &queue, made))
        return made;
    lines_give(domain, made, LINES_QUEUE);
    return queue;
}

struct cond *cond_make(void)
{
    unsigned domain = nodes_domain();
    struct cond *cond = lines_take(domain, LINES_COND);

    if (!cond)
        return NULL;
    cond->domain = domain;
    if (find_queue(cond, domain))
        return cond;
    lines_give(domain, cond, LINES_COND);
    return NULL;
}

void cond_end(struct cond *cond)
{
    if (!atomic_load(&cond->waiting))
        lines_give(cond->domain, cond, LINES_COND);
}

/* ---- queues ---- */

static void enter(struct waiter *waiter)
{
    struct cond *cond = waiter->cond;
    struct queue *queue = find_queue(cond, nodes_domain());

    if (!queue)
        queue = find_queue(cond, cond->domain);
    waiter->queue = queue;
    latch_take(&queue->latch);
    waiter->queued = true;
    waiter->came = atomic_load(&cond->now);
    waiter->previous = queue->last;
    if (queue->last)
        queue->last->next = waiter;
    else
        queue->first = waiter;
    queue->last = waiter;
    if (queue->first == waiter)
        atomic_fetch_or(&cond->waiting, queue->bit);
    latch_give(&queue->latch);
}

/* With the queue's latch held. */
static void take_out(struct queue *queue, struct waiter *waiter)
{
    if (waiter->previous)
        waiter->previous->next = waiter->next;
    else
        queue->first = waiter->next;
    if (waiter->next)
        waiter->next->previous = waiter->previous;
    else
        queue->last = waiter->previous;
    waiter->queued = false;
    if (!queue->first)
        atomic_fetch_and(&waiter->cond->waiting, ~queue->bit);
}

/* Returns the waiter that came first, where that was before the time `now`, or NULL. */
static struct waiter *take_first(struct queue *queue, uint32_t now)
{
    struct waiter *waiter;

    latch_take(&queue->latch);
    waiter = queue->first;
    if (waiter && (int32_t)(now - waiter->came) > 0)
        take_out(queue, waiter);
    else
        waiter = NULL;
    latch_give(&queue->latch);
    return waiter;
}

/* Puts all waiters before those of the list, and returns the list. */
static struct waiter *take_all(struct queue *queue, struct waiter *list)
{
    latch_take(&queue->latch);
    while (queue->last) {
        struct waiter *waiter = queue->last;

        take_out(queue, waiter);
        waiter->next = list;
        list = waiter;
    }
    latch_give(&queue->latch);
    return list;
}

/* ---- to signal ---- */

static void release(struct waiter *waiter)
{
    _Atomic uint32_t *word = &waiter->word;

    if (atomic_exchange_explicit(word, SIGNALLED, memory_order_acq_rel) == ASLEEP)
        futex_wake(word, 1);
}

/* Returns the first domain of the mask from `domain` on. */
static unsigned first_from(uint32_t mask, unsigned domain)
{
    domain %= 32;
    if (mask >> domain)
        return domain + (unsigned)__builtin_ctz(mask >> domain);
    return (unsigned)__builtin_ctz(mask);
}

static struct waiter *take_nearest(struct cond *cond, uint32_t waiting, uint32_t now)
{
    struct waiter *waiter = NULL;
    unsigned domain = nodes_domain(), nearest;

    while (waiting && !waiter) {
        nearest = first_from(waiting, domain);
        waiter = take_first(atomic_load(&cond->queue[nearest]), now);
        waiting &= ~(UINT32_C(1) << nearest);
    }
    return waiter;
}

void cond_signal(struct cond *cond)
{
    struct waiter *waiter = NULL;
    uint32_t waiting, now;

    while (!waiter && (waiting = atomic_load(&cond->waiting))) {
        now = atomic_load(&cond->now);
        waiter = take_nearest(cond, waiting, now);
        if (!waiter)
            atomic_compare_exchange_strong(&cond->now, &now, now + 1);
    }
    if (waiter)
        release(waiter);
}

/* Nobody is woken before all are out of their queues: then nobody is who could end the condition.
 */
void cond_broadcast(struct cond *cond)
{
    uint32_t waiting = atomic_load(&cond->waiting);
    struct waiter *list = NULL, *next;

    for (; waiting; waiting &= waiting - 1)
        list = take_all(atomic_load(&cond->queue[__builtin_ctz(waiting)]), list);
    for (; list; list = next) {
        next = list->next;
        release(list);
    }
}

/* ---- to wait ---- */

static int sleep_until(struct waiter *waiter, clockid_t clock, const struct timespec *until)
{
    uint32_t is = NOT_ASLEEP;
    int rc = 0;

    atomic_compare_exchange_strong(&waiter->word, &is, ASLEEP);
    while (rc == 0 && atomic_load_explicit(&waiter->word, memory_order_acquire) != SIGNALLED)
        rc = futex_sleep_until(&waiter->word, ASLEEP, clock, until);
    return rc;
}

/* Returns whether the waiter was in its queue still, and is so no more. Else it has been signalled,
 * and the signaller has done with it. */
static bool withdraw(struct waiter *waiter)
{
    struct queue *queue = waiter->queue;
    bool queued = false;

    if (atomic_load_explicit(&waiter->word, memory_order_acquire) == SIGNALLED)
        return false;
    latch_take(&queue->latch);
    queued = waiter->queued;
    if (queued)
        take_out(queue, waiter);
    latch_give(&queue->latch);
    if (!queued)
        sleep_until(waiter, CLOCK_MONOTONIC, NULL);
    return queued;
}

/* ---- the mutex ---- */

/* Kinds that know their owner refuse to be given by another. */
static bool may_give(const pthread_mutex_t *mutex)
{
    int type = mutex->__data.__kind & TYPES;

    return (type != PTHREAD_MUTEX_RECURSIVE && type != PTHREAD_MUTEX_ERRORCHECK) ||
           mutex->__data.__owner == gettid();
}

/* Who waits is a user of the mutex, as in libc, which destroys none that has users. Only its owner
 * counts them. */
static void give_mutex(pthread_mutex_t *mutex)
{
    mutex->__data.__nusers++;
    pthread_mutex_unlock(mutex);
}

static int take_mutex(pthread_mutex_t *mutex)
{
    int rc = pthread_mutex_lock(mutex);

    if (rc == 0)
        mutex->__data.__nusers--;
    return rc;
}

/* ---- to be cancelled ---- */

static void be_cancelled(void *arg)
{
    struct waiter *waiter = arg;

    if (!withdraw(waiter))
        cond_signal(waiter->cond);
    take_mutex(waiter->mutex);
}

/* libc has no futex that is a cancellation point: while the thread sleeps, and has no latch, it may
 * be cancelled at any instruction. */
static int sleep_cancelably(struct waiter *waiter, clockid_t clock, const struct timespec *until)
{
    int type, rc;

    pthread_cleanup_push(be_cancelled, waiter);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    rc = sleep_until(waiter, clock, until);
    pthread_setcanceltype(type, NULL);
    pthread_cleanup_pop(0);
    return rc;
}

int cond_wait(struct cond *cond, pthread_mutex_t *mutex, clockid_t clock,
              const struct timespec *until)
{
    struct waiter waiter = {.cond = cond, .mutex = mutex};
    int rc, locked;

    if (!may_give(mutex))
        return EPERM;
    enter(&waiter);
    give_mutex(mutex);
    rc = sleep_cancelably(&waiter, clock, until);
    if (rc == ETIMEDOUT && !withdraw(&waiter))
        rc = 0;
    locked = take_mutex(mutex);
    return locked ? locked : rc;
}
