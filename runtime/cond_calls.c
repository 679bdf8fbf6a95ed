/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cond_calls - threads wait for the program's condition variables in those of cond.h, as the page
 * says (RT_FLEX).
 *
 * A condition variable need not be one of ours or libc's: it can be both. Who signals signals
 * libc's, too, which costs a look at it where nobody waits there; and one thread more than was
 * asked for may always be woken. So each wait can go where it likes: to libc where there is no
 * memory, where the page says nothing, in a child of fork, where the table is empty, and with
 * mutexes whose owner's death or priority counts. The mutex is given and locked by its own
 * functions, whatever kind it is.
 *
 * In a single domain all waits are libc's: there is nothing to divide, and a broadcast of ours
 * wakes one thread after the other. With 16 threads on as many cores a round took 1.8 times as
 * long.
 *
 * What is shared between processes is libc's. That, and its clock, a condition variable says by
 * itself, where libc has the layout that it has had since 2.25; else we are not there.
 *
 * libc is signalled first: when a thread of ours has been woken the variable may be gone. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "runtime/cond.h"
#include "runtime/mutex.h"
#include "runtime/next.h"
#include "runtime/nodes.h"
#include "runtime/rt.h"
#include "runtime/said.h"
#include "runtime/table.h"

#define EXPORTED __attribute__((visibility("default")))
/* On x86-64 libc has functions of the same names for programs of before 2003, too. */
#define CONDITIONS "GLIBC_2.3.2"
#define NEXT_CALL(name, ...)                                                                       \
    ({                                                                                             \
        __typeof__(name) *next = next_##name();                                                    \
        next ? next(__VA_ARGS__) : ENOSYS;                                                         \
    })

NEXT(pthread_cond_init, CONDITIONS)
NEXT(pthread_cond_destroy, CONDITIONS)
NEXT(pthread_cond_signal, CONDITIONS)
NEXT(pthread_cond_broadcast, CONDITIONS)
NEXT(pthread_cond_wait, CONDITIONS)
NEXT(pthread_cond_timedwait, CONDITIONS)
NEXT(pthread_cond_clockwait, CONDITIONS)

#define SHARED 1u /* of __wrefs */
#define MONOTONIC 2u
#define NOT_NORMAL 0xf0 /* of a mutex's __kind: robust, of priorities, shared */

static struct table conds;

static unsigned flags_of(const pthread_cond_t *condition)
{
    return __atomic_load_n(&condition->__data.__wrefs, __ATOMIC_RELAXED) & (SHARED | MONOTONIC);
}

/* Returns the flags of a condition variable that libc makes. */
static unsigned made_flags(int shared, clockid_t clock)
{
    pthread_condattr_t attributes;
    pthread_cond_t made;
    unsigned flags;

    pthread_condattr_init(&attributes);
    pthread_condattr_setpshared(&attributes, shared);
    pthread_condattr_setclock(&attributes, clock);
    if (NEXT_CALL(pthread_cond_init, &made, &attributes) != 0)
        return ~0u;
    flags = flags_of(&made);
    NEXT_CALL(pthread_cond_destroy, &made);
    return flags;
}

static bool knows_layout(void)
{
    static _Atomic int known; /* 0: not looked yet; 1: no; 2: yes */

    if (!atomic_load_explicit(&known, memory_order_relaxed))
        atomic_store(&known,
                     1 + (made_flags(PTHREAD_PROCESS_PRIVATE, CLOCK_REALTIME) == 0 &&
                          made_flags(PTHREAD_PROCESS_SHARED, CLOCK_REALTIME) == SHARED &&
                          made_flags(PTHREAD_PROCESS_PRIVATE, CLOCK_MONOTONIC) == MONOTONIC));
    return atomic_load_explicit(&known, memory_order_relaxed) == 2;
}

/* Two threads that wait first may both make one. */
static struct cond *add(const pthread_cond_t *condition, const struct rt_page *page)
{
    struct cond *made = cond_make(), *added = made ? table_add(&conds, condition, made) : NULL;

    if (made && added == made)
        said_object(page);
    else if (made)
        cond_end(made);
    return added;
}

/* Returns where a thread is to wait, or NULL: with libc. */
static struct cond *place_to_wait(const pthread_cond_t *condition, const pthread_mutex_t *mutex)
{
    const struct rt_page *page = rt_page(RT_FLEX);
    struct cond *cond;

    if (!page || nodes_domains() < 2 || (mutex->__data.__kind & NOT_NORMAL) ||
        (flags_of(condition) & SHARED) || !knows_layout())
        return NULL;
    cond = table_find(&conds, condition);
    return cond ? cond : add(condition, page);
}

static void forget(const pthread_cond_t *condition)
{
    struct cond *cond = table_drop(&conds, condition);

    if (cond)
        cond_end(cond);
}

/* ---- what is stood before ---- */

EXPORTED int pthread_cond_init(pthread_cond_t *restrict condition,
                               const pthread_condattr_t *restrict attributes)
{
    forget(condition);
    return NEXT_CALL(pthread_cond_init, condition, attributes);
}

EXPORTED int pthread_cond_destroy(pthread_cond_t *condition)
{
    forget(condition);
    return NEXT_CALL(pthread_cond_destroy, condition);
}

EXPORTED int pthread_cond_signal(pthread_cond_t *condition)
{
    int rc = NEXT_CALL(pthread_cond_signal, condition);
    struct cond *cond = table_find(&conds, condition);

    if (cond)
        cond_signal(cond);
    return rc;
}

EXPORTED int pthread_cond_broadcast(pthread_cond_t *condition)
{
    int rc = NEXT_CALL(pthread_cond_broadcast, condition);
    struct cond *cond = table_find(&conds, condition);

    if (cond)
        cond_broadcast(cond);
    return rc;
}

EXPORTED int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
    struct cond *cond = place_to_wait(condition, mutex);

    if (cond)
        return cond_wait(cond, mutex, CLOCK_MONOTONIC, NULL);
    mutex_before_wait(mutex);
    return NEXT_CALL(pthread_cond_wait, condition, mutex);
}

static bool is_time(clockid_t clock, const struct timespec *until)
{
    return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && until->tv_nsec >= 0 &&
           until->tv_nsec < 1000000000;
}

EXPORTED int pthread_cond_timedwait(pthread_cond_t *restrict condition,
                                    pthread_mutex_t *restrict mutex,
                                    const struct timespec *restrict until)
{
    clockid_t clock = flags_of(condition) & MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    struct cond *cond = is_time(clock, until) ? place_to_wait(condition, mutex) : NULL;

    if (cond)
        return cond_wait(cond, mutex, clock, until);
    mutex_before_wait(mutex);
    return NEXT_CALL(pthread_cond_timedwait, condition, mutex, until);
}

EXPORTED int pthread_cond_clockwait(pthread_cond_t *restrict condition,
                                    pthread_mutex_t *restrict mutex, clockid_t clock,
                                    const struct timespec *restrict until)
{
    struct cond *cond = is_time(clock, until) ? place_to_wait(condition, mutex) : NULL;

    if (cond)
        return cond_wait(cond, mutex, clock, until);
    mutex_before_wait(mutex);
    return NEXT_CALL(pthread_cond_clockwait, condition, mutex, clock, until);
}
