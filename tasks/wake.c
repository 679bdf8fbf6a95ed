/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/wake.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/futex.h"

/* ---- fences ---- */

bool wake_needs_fences(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) < 0;
}

/* Makes a fence in all threads of the process. */
static void fence_all(const struct berth_tasks *pool)
{
    if (!pool->fences)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    atomic_thread_fence(memory_order_seq_cst);
}

/* ---- lists of sleepers ---- */

/* Under the domain's lock. The worker is one that searches afterwards, before it can know. */
static void leave_list(struct domain *domain, struct worker *worker)
{
    bool searches = atomic_load(&worker->word) == WORKER_ASLEEP;

    *worker->link_asleep = worker->next_asleep;
    if (worker->next_asleep)
        worker->next_asleep->link_asleep = worker->link_asleep;
    atomic_fetch_sub(&domain->sleepers, searches);
    atomic_fetch_sub(&worker->pool->sleepers, 1);
    atomic_fetch_add(&domain->searching, searches);
    atomic_store(&worker->word, WORKER_AWAKE);
}

static void enter_list(struct domain *domain, struct worker *me, uint32_t state)
{
    bool searched = state == WORKER_ASLEEP;
    struct worker **list = searched ? &domain->asleep : &domain->joining;

    pthread_mutex_lock(&domain->lock);
    me->link_asleep = list;
    me->next_asleep = *list;
    if (*list)
        (*list)->link_asleep = &me->next_asleep;
    *list = me;
    atomic_store(&me->word, state);
    atomic_fetch_add(&me->pool->sleepers, 1);
    atomic_fetch_add(&domain->sleepers, searched);
    atomic_fetch_sub(&domain->searching, searched);
    pthread_mutex_unlock(&domain->lock);
}

/* ---- waking ---- */

/* Says whether it slept in that domain; then it searches now. */
static bool take_from_sleep(struct domain *domain, struct worker *worker)
{
    bool slept;

    pthread_mutex_lock(&domain->lock);
    slept = atomic_load(&worker->word) != WORKER_AWAKE && atomic_load(&worker->idle_in) == domain;
    if (slept)
        leave_list(domain, worker);
    pthread_mutex_unlock(&domain->lock);
    return slept;
}

void wake_worker(struct worker *worker)
{
    while (atomic_load(&worker->word) != WORKER_AWAKE)
        if (take_from_sleep(atomic_load(&worker->idle_in), worker)) {
            futex_wake(&worker->word, 1);
            return;
        }
}

/* Wakes the first one of a list. */
static bool wake_first(struct domain *domain, struct worker *const *list)
{
    struct worker *worker;

    pthread_mutex_lock(&domain->lock);
    worker = *list;
    if (worker)
        leave_list(domain, worker);
    pthread_mutex_unlock(&domain->lock);
    if (worker)
        futex_wake(&worker->word, 1);
    return worker;
}

static bool wake_where_none_searches(struct domain *domain)
{
    return load_u32(&domain->sleepers) && !load_u32(&domain->searching) &&
           wake_first(domain, &domain->asleep);
}

/* Says whether a queue of that size is of use for other domains. */
static bool is_for_others(const struct worker *me, int64_t size)
{
    return !me->pool->stealing.domains || size >= me->threshold.victim;
}

/* Wakes a worker of any domain in which none searches. */
static void wake_elsewhere(struct berth_tasks *pool)
{
    for (unsigned d = 0; d < pool->domains; d++)
        if (wake_where_none_searches(pool->domain[d]))
            return;
}

void wake_for_queue(struct worker *me, int64_t size)
{
    struct berth_tasks *pool = me->pool;
    struct domain *mine = domain_of(me);

    if (wake_where_none_searches(mine) || load_u32(&mine->searching) || !is_for_others(me, size))
        return;
    wake_elsewhere(pool);
}

/* Those that can run only what they wait for: it may be there. */
static void wake_joining(struct berth_tasks *pool)
{
    for (unsigned d = 0; d < pool->domains; d++)
        while (wake_first(pool->domain[d], &pool->domain[d]->joining))
            ;
}

void wake_for_list(struct berth_tasks *pool, struct domain *domain)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (!load_u32(&pool->sleepers))
        return;
    wake_joining(pool);
    if (!wake_where_none_searches(domain) && !load_u32(&domain->searching))
        wake_elsewhere(pool);
}

void wake_next(struct berth_tasks *pool, struct domain *domain)
{
    if (load_u32(&pool->sleepers) && !wake_where_none_searches(domain) &&
        load_u32(&domain->waiting))
        wake_elsewhere(pool);
}

/* ---- sleeping ---- */

void wake_announce(struct worker *me, uint32_t state)
{
    enter_list(atomic_load(&me->idle_in), me, state);
    fence_all(me->pool);
}

void wake_withdraw(struct worker *me)
{
    take_from_sleep(atomic_load(&me->idle_in), me);
}

void wake_sleep(struct worker *me, uint32_t state)
{
    while (atomic_load(&me->word) == state)
        futex_sleep(&me->word, state);
}
