/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rest - see rest.h. Who rests looks around every REST_NS, so that nobody has to wake him. */
#include "tasks/rest.h"

#include <time.h>

#include "runtime/contention.h"
#include "runtime/rt.h"
#include "runtime/said.h"

#define REST_NS 10000000
#define FREE_NS 5000000000u

/* How many workers of a domain should rest: as large a part of it as of the others, rounded so that
 * they add up to a quarter of all. */
static uint32_t share_of(const struct berth_tasks *pool, unsigned domain)
{
    uint32_t most = pool->n / CONTENTION_PART, before = 0, here;

    for (unsigned i = 0; i < domain; i++)
        before += (uint32_t)load_u32(&pool->domain[i]->members);
    here = (uint32_t)load_u32(&pool->domain[domain]->members);
    return most * (before + here) / pool->n - most * before / pool->n;
}

/* Says that one more of the domain rests, where there is room for that. */
static bool lie_down(struct berth_tasks *pool, unsigned number)
{
    _Atomic uint32_t *resting = &pool->domain[number]->resting;
    uint32_t now = atomic_load(resting);

    do
        if (now >= share_of(pool, number))
            return false;
    while (!atomic_compare_exchange_weak(resting, &now, now + 1));
    return true;
}

static bool is_saturated(void)
{
    const struct rt_page *page = rt_page(RT_THROTTLE);

    return page && contention_is(page, contention_clock());
}

/* How many tasks the pool has run. */
static uint64_t count_run(const struct berth_tasks *pool)
{
    uint64_t run = 0;

    for (unsigned i = 0; i < pool->n; i++)
        run += load_u64(&pool->worker[i]->counts.run);
    return run;
}

/* Sleeps until there is room. Returns whether no task has ended for too long. */
static bool sleep_on(const struct worker *me, unsigned number)
{
    static const struct timespec moment = {.tv_nsec = REST_NS};
    uint64_t run = count_run(me->pool), ended_ns = contention_clock();

    while (is_saturated() && !atomic_load(&me->pool->stopping) &&
           atomic_load(&me->pool->domain[number]->resting) <= share_of(me->pool, number)) {
        uint64_t now = count_run(me->pool), now_ns = contention_clock();

        if (now == run && now_ns > ended_ns + FREE_NS)
            return true;
        ended_ns = now == run ? ended_ns : now_ns;
        run = now;
        nanosleep(&moment, NULL);
    }
    return false;
}

void rest_a_while(struct worker *me)
{
    unsigned number = (unsigned)load_u32(&me->domain);
    uint64_t began_ns;
    bool freed;

    if (!is_saturated()) {
        if (atomic_load_explicit(&me->pool->freed, memory_order_relaxed))
            atomic_store(&me->pool->freed, false);
        return;
    }
    if (atomic_load(&me->pool->freed) || !lie_down(me->pool, number))
        return;
    began_ns = contention_clock();
    freed = sleep_on(me, number);
    if (freed)
        atomic_store(&me->pool->freed, true);
    atomic_fetch_sub(&me->pool->domain[number]->resting, 1);
    said_rest(contention_clock() - began_ns, freed);
}
