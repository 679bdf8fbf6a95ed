/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin - spin locks that threads of several domains fight for are handed over within one, as
 * mutexes are (mutex.c).
 *
 * The spin lock's own word, which libc's functions take and give, is the global lock: a spin lock
 * may be shared with other processes, which it does not say. They wait outside of all queues and
 * cannot be seen: so the word is given back at the end of each turn, and a leader spins for it as
 * ever. Only the others of his domain sleep.
 *
 * The word has no room for a note: a few are kept by the lock's address, of which one that is
 * fought for more stays. Spin locks are always made by pthread_spin_init(), which takes from the
 * address what was noted of another. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/cohorts.h"
#include "runtime/hook.h"
#include "runtime/nodes.h"
#include "runtime/rt.h"

#define NOTES 64

HOOK(lock_hook, "pthread_spin_lock")
HOOK(unlock_hook, "pthread_spin_unlock")
HOOK(trylock_hook, "pthread_spin_trylock")
HOOK(destroy_hook, "pthread_spin_destroy")

static struct {
    _Atomic(void *) lock;
    _Atomic uint64_t noted;
} notes[NOTES];

/* ---- the global lock of a cohort ---- */

static void global_lock(void *lock)
{
    HOOK_CALL(lock_hook.next, lock);
}

static bool global_try(void *lock)
{
    return HOOK_CALL(trylock_hook.next, lock) == 0;
}

static void global_unlock(void *lock)
{
    HOOK_CALL(unlock_hook.next, lock);
}

static bool global_wanted(const void *lock)
{
    (void)lock;
    return true; /* by another process, for all we know */
}

static const struct cohort_global global = {global_lock, global_try, global_unlock, global_wanted};

/* ---- what is stood before ---- */

/* The caller has the lock, for which he has waited. Two locks of one note take it from each other:
 * what it says may be of either. */
static void note(void *lock)
{
    size_t i = ((uintptr_t)lock >> 2) % NOTES;
    uint64_t noted = atomic_load(&notes[i].lock) == lock ? atomic_load(&notes[i].noted) : 0;

    if (cohorts_find(lock))
        return; /* it was given one meanwhile */
    if (cohorts_note(&noted))
        cohorts_give(lock, &global);
    atomic_store(&notes[i].noted, noted);
    atomic_store(&notes[i].lock, lock);
}

static int watched_lock(void *lock)
{
    struct cohort *cohort = cohorts_find(lock);
    int rc;

    if (cohort && !cohorts_rest())
        return cohort_lock(cohort, nodes_domain()), 0;
    if (HOOK_CALL(trylock_hook.next, lock) == 0)
        return 0;
    rc = HOOK_CALL(lock_hook.next, lock);
    if (rc == 0)
        note(lock);
    return rc;
}

static int watched_unlock(void *lock)
{
    struct cohort *cohort = cohorts_find(lock);

    if (cohort)
        return cohort_unlock(cohort), 0;
    return HOOK_CALL(unlock_hook.next, lock);
}

static int watched_destroy(void *lock)
{
    cohorts_drop(lock);
    return HOOK_CALL(destroy_hook.next, lock);
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

HOOK_EXPORT(lock_hook, pthread_spin_lock, pthread_spinlock_t)
HOOK_EXPORT(unlock_hook, pthread_spin_unlock, pthread_spinlock_t)
HOOK_EXPORT(destroy_hook, pthread_spin_destroy, pthread_spinlock_t)

NEXT(pthread_spin_init, NULL)

__attribute__((visibility("default"))) int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    __typeof__(pthread_spin_init) *next = next_pthread_spin_init();

    cohorts_drop((void *)lock);
    return next ? next(lock, shared) : ENOSYS;
}
