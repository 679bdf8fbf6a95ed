/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mutex - see berth_mutex.h.
 *
 * Mutexes are made of slabs, which are never given back to the system: the mutexes of a slab lie
 * where its first one was made, and the part of each domain has a page of its own, which the first
 * thread that waits there is the first to write to. Slabs and lists are by domain, their home. */
#include "tasks/mutex.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#include "runtime/crowd.h"
#include "tasks/standing.h"

#define PAGE 4096
#define SLAB_MUTEXES 32

struct slab {
    struct berth_mutex mutex[SLAB_MUTEXES];
    _Alignas(PAGE) struct cohort_domain domain[COHORT_DOMAINS][SLAB_MUTEXES];
};

_Static_assert(SLAB_MUTEXES * sizeof(struct cohort_domain) % PAGE == 0, "a domain has whole pages");

static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;
static struct berth_mutex *unused[COHORT_DOMAINS];

static void lock_lists(void)
{
    pthread_mutex_lock(&lists);
}

static void unlock_lists(void)
{
    pthread_mutex_unlock(&lists);
}

/* A child of fork() makes mutexes of its own, whoever was making one when it was forked. */
__attribute__((constructor)) static void begin(void)
{
    crowd_begin();
    pthread_atfork(lock_lists, unlock_lists, unlock_lists);
}

/* ---- the lock of a cohort ---- */

static void global_lock(void *latch)
{
    latch_take(latch);
}

static bool global_try(void *latch)
{
    return latch_try(latch);
}

static void global_unlock(void *latch)
{
    latch_give(latch);
}

static bool global_wanted(const void *latch)
{
    return latch_is_wanted(latch);
}

static const struct cohort_global global = {global_lock, global_try, global_unlock, global_wanted};

/* ---- making ---- */

/* Under the lock of the lists. Where there is no memory the list stays empty. */
static void add_slab(unsigned home)
{
    struct slab *slab =
        mmap(NULL, sizeof(*slab), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (size_t i = 0; slab != MAP_FAILED && i < SLAB_MUTEXES; i++) {
        struct berth_mutex *mutex = &slab->mutex[i];

        for (size_t d = 0; d < COHORT_DOMAINS; d++)
            mutex->cohort.domain[d] = &slab->domain[d][i];
        mutex->home = home;
        mutex->next = unused[home];
        unused[home] = mutex;
    }
}

static struct berth_mutex *take_unused(unsigned home)
{
    struct berth_mutex *mutex;

    pthread_mutex_lock(&lists);
    if (!unused[home])
        add_slab(home);
    mutex = unused[home];
    if (mutex)
        unused[home] = mutex->next;
    pthread_mutex_unlock(&lists);
    return mutex;
}

struct berth_mutex *berth_mutex_new(unsigned bound)
{
    struct berth_mutex *mutex = NULL;

    if (bound > BERTH_MUTEX_BOUND_MAX) {
        errno = EINVAL;
        return NULL;
    }
    mutex = take_unused(standing_domain() % COHORT_DOMAINS);
    if (!mutex) {
        errno = ENOMEM;
        return NULL;
    }
    mutex->rests = !bound;
    atomic_store(&mutex->latch.word, 0);
    cohort_begin(&mutex->cohort, &global, &mutex->latch, bound ? bound : COHORT_BOUND);
    return mutex;
}

void berth_mutex_free(struct berth_mutex *mutex)
{
    if (!mutex)
        return;
    pthread_mutex_lock(&lists);
    mutex->next = unused[mutex->home];
    unused[mutex->home] = mutex;
    pthread_mutex_unlock(&lists);
}

/* ---- using ---- */

/* Who takes the latch alone is a bare owner of the cohort. */
void berth_mutex_lock(struct berth_mutex *mutex)
{
    if (mutex->rests && crowd_is(standing_cpus))
        latch_take(&mutex->latch);
    else
        cohort_lock(&mutex->cohort, standing_domain());
}

int berth_mutex_trylock(struct berth_mutex *mutex)
{
    return latch_try(&mutex->latch) ? 0 : EBUSY;
}

void berth_mutex_unlock(struct berth_mutex *mutex)
{
    cohort_unlock(&mutex->cohort);
}
