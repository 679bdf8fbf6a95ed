/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mutex - see mutex.h.
 *
 * glibc's mutex stays the lock: it is locked while somebody has it, whoever that is. Once threads
 * of different domains have waited for it often enough its owner gives it a cohort, whose global
 * lock it is, and from then on pthread_mutex_lock() asks the cohort. All else goes to glibc as
 * before and makes bare owners: trylock, timedlock, clocklock, C11's mtx_lock, what condition
 * variables lock again, and who waited before there was a cohort. So only locking, unlocking and
 * destroying are stood before.
 *
 * Only normal mutexes of one process, also adaptive ones, are given one. Robust, recursive,
 * error-checking, process-shared, priority-inheriting and elided ones are glibc's alone. In a
 * normal mutex glibc never looks at the links of the list of robust ones, which all its
 * initialisers make 0: they have the number of the cohort, and what was noted before. Memory in
 * which there is a new mutex begins with nothing, also where nobody has destroyed the old one. A
 * cohort says whose it is: a copy of a mutex has none, and none has one in a child of fork. glibc's
 * __owner is who locked it last from glibc, which for normal mutexes nobody looks at but a
 * debugger. */
#include "runtime/mutex.h"

#include <stdint.h>

#include "runtime/cohorts.h"
#include "runtime/hook.h"
#include "runtime/nodes.h"
#include "runtime/rt.h"

#define MARK 0xb347u /* of the 16 upper bits, in which no address has that */
#define MARK_SHIFT 48

HOOK(lock_hook, "pthread_mutex_lock")
HOOK(unlock_hook, "pthread_mutex_unlock")
HOOK(trylock_hook, "pthread_mutex_trylock")
HOOK(destroy_hook, "pthread_mutex_destroy")

/* ---- the global lock of a cohort ---- */

/* glibc's word: 0 is free, 2 where somebody may sleep. */
static int state_of(const pthread_mutex_t *mutex)
{
    return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);
}

static void global_lock(void *mutex)
{
    HOOK_CALL(lock_hook.next, mutex);
}

static bool global_try(void *mutex)
{
    return state_of(mutex) == 0 && HOOK_CALL(trylock_hook.next, mutex) == 0;
}

static void global_unlock(void *mutex)
{
    HOOK_CALL(unlock_hook.next, mutex);
}

static bool global_wanted(const void *mutex)
{
    return state_of(mutex) > 1;
}

static const struct cohort_global global = {global_lock, global_try, global_unlock, global_wanted};

/* ---- what is kept in a mutex ---- */

static uint64_t *mark_of(pthread_mutex_t *mutex)
{
    return (uint64_t *)&mutex->__data.__list.__next;
}

/* Of who has the mutex, while it has no cohort. */
static uint64_t *note_of(pthread_mutex_t *mutex)
{
    return (uint64_t *)&mutex->__data.__list.__prev;
}

static bool is_normal(const pthread_mutex_t *mutex)
{
    int kind = mutex->__data.__kind & ~512 /* PTHREAD_MUTEX_NO_ELISION_NP */;

    return kind == PTHREAD_MUTEX_TIMED_NP || kind == PTHREAD_MUTEX_ADAPTIVE_NP;
}

static inline bool is_marked(pthread_mutex_t *mutex)
{
    uint64_t mark = __atomic_load_n(mark_of(mutex), __ATOMIC_ACQUIRE);

    return __builtin_expect(mark >> MARK_SHIFT == MARK, 0);
}

/* Returns the cohort of a mutex that is marked, or NULL: it is a copy, or a child's. */
static struct cohort *cohort_of(pthread_mutex_t *mutex)
{
    return cohorts_at((size_t)(*mark_of(mutex) ^ (uint64_t)MARK << MARK_SHIFT), mutex);
}

static bool has_cohort(pthread_mutex_t *mutex)
{
    return is_marked(mutex) && cohort_of(mutex);
}

/* The caller has the mutex, for which he has waited; it may have been given a cohort meanwhile. */
static void note(pthread_mutex_t *mutex)
{
    size_t given;

    if (!is_normal(mutex) || has_cohort(mutex) || !cohorts_note(note_of(mutex)))
        return;
    given = cohorts_give(mutex, &global);
    if (given != COHORTS_NONE)
        __atomic_store_n(mark_of(mutex), (uint64_t)MARK << MARK_SHIFT | given, __ATOMIC_RELEASE);
}

/* ---- what is stood before ---- */

/* What is done for every mutex needs no room on the stack; the rest is apart. */
#define APART __attribute__((noinline)) static

APART int wait_and_note(void *mutex)
{
    int rc = HOOK_CALL(lock_hook.next, mutex);

    if (rc == 0)
        note(mutex);
    return rc;
}

static inline int lock_alone(void *mutex)
{
    return __builtin_expect(state_of(mutex) != 0, 0) ? wait_and_note(mutex)
                                                     : HOOK_CALL(lock_hook.next, mutex);
}

APART int lock_marked(void *mutex)
{
    struct cohort *cohort = cohort_of(mutex);

    if (!cohort || cohorts_rest())
        return lock_alone(mutex);
    cohort_lock(cohort, nodes_domain());
    return 0;
}

static int watched_lock(void *mutex)
{
    return is_marked(mutex) ? lock_marked(mutex) : lock_alone(mutex);
}

APART int unlock_marked(void *mutex)
{
    struct cohort *cohort = cohort_of(mutex);

    if (!cohort)
        return HOOK_CALL(unlock_hook.next, mutex);
    cohort_unlock(cohort);
    return 0;
}

static int watched_unlock(void *mutex)
{
    return is_marked(mutex) ? unlock_marked(mutex) : HOOK_CALL(unlock_hook.next, mutex);
}

/* glibc refuses to destroy one that is locked. */
static int watched_destroy(void *mutex)
{
    bool had_cohort = has_cohort(mutex);
    int rc = HOOK_CALL(destroy_hook.next, mutex);

    if (!had_cohort || rc != 0)
        return rc;
    *mark_of(mutex) = 0;
    cohorts_drop(mutex);
    return 0;
}

/* Without a page nothing is looked at. */
__attribute__((constructor)) static void begin(void)
{
    if (!rt_named())
        return;
    atomic_store(&lock_hook.now, watched_lock);
    atomic_store(&unlock_hook.now, watched_unlock);
    atomic_store(&destroy_hook.now, watched_destroy);
}

void mutex_before_wait(pthread_mutex_t *mutex)
{
    struct cohort *cohort = is_marked(mutex) ? cohort_of(mutex) : NULL;

    if (cohort)
        cohort_let_go(cohort);
}

/* Each has two names in glibc. */
HOOK_EXPORT(lock_hook, pthread_mutex_lock, pthread_mutex_t)
HOOK_EXPORT(lock_hook, __pthread_mutex_lock, pthread_mutex_t)
HOOK_EXPORT(unlock_hook, pthread_mutex_unlock, pthread_mutex_t)
HOOK_EXPORT(unlock_hook, __pthread_mutex_unlock, pthread_mutex_t)
HOOK_EXPORT(destroy_hook, pthread_mutex_destroy, pthread_mutex_t)
HOOK_EXPORT(destroy_hook, __pthread_mutex_destroy, pthread_mutex_t)
