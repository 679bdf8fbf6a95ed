/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/steal.h"

#include "tasks/queues.h"

#define SHARED_MOST 64 /* tasks that are brought home at once */

/* ---- victims ---- */

static uint32_t chance(struct worker *me, uint32_t n)
{
    me->chance ^= me->chance << 13;
    me->chance ^= me->chance >> 7;
    me->chance ^= me->chance << 17;
    return (uint32_t)(me->chance >> 32) % n;
}

static bool is_flagged(const struct berth_tasks *pool, unsigned worker)
{
    return atomic_load_explicit(&pool->stealable[worker], memory_order_relaxed);
}

/* Says whether it is to be tried. */
static bool is_to_try(const struct berth_tasks *pool, const struct worker *victim, bool last)
{
    return !pool->stealing.thresholds || is_flagged(pool, victim->number) ||
           (last && !pool->stealing.literal && deque_size(&victim->deque));
}

/* Who leaves too few tasks clears the victim's bit, since its owner may be busy for long. The owner
 * may set it at the same moment, and find it cleared: then it is set again by what it adds next,
 * and until then who looks for the last time finds the tasks all the same. */
static struct task *try(struct worker *me, struct worker *victim)
{
    void *task;

    if (deque_steal(&victim->deque, &task) != DEQUE_TAKEN) {
        count(&me->counts.misses);
        return NULL;
    }
    if (deque_size(&victim->deque) < me->threshold.clear && !me->pool->stealing.literal)
        atomic_store_explicit(&me->pool->stealable[victim->number], false, memory_order_relaxed);
    count(&me->counts.steals);
    if (domain_of(victim) != domain_of(me))
        count(&me->counts.remote);
    return task;
}

/* Tries the workers of a domain, from one chosen by chance on (eq. 4.4). */
static struct task *from_members(struct worker *me, const struct domain *domain, bool last)
{
    uint32_t n = (uint32_t)load_u32(&domain->members), start = n ? chance(me, n) : 0;
    struct berth_tasks *pool = me->pool;

    for (uint32_t i = 0; i < n; i++) {
        struct worker *victim = pool->worker[atomic_load_explicit(&domain->member[(start + i) % n],
                                                                  memory_order_relaxed)];
        struct task *task = victim != me && is_to_try(pool, victim, last) ? try(me, victim) : NULL;

        if (task)
            return task;
    }
    return NULL;
}

/* Tries all workers alike. */
static struct task *from_all(struct worker *me, bool last)
{
    struct berth_tasks *pool = me->pool;
    uint32_t start = chance(me, pool->n);

    for (uint32_t i = 0; i < pool->n; i++) {
        struct worker *victim = pool->worker[(start + i) % pool->n];
        struct task *task = victim != me && is_to_try(pool, victim, last) ? try(me, victim) : NULL;

        if (task)
            return task;
    }
    return NULL;
}

/* ---- other domains ---- */

/* Eq. 4.5: the sum of a domain's bits. */
static unsigned stealability(const struct berth_tasks *pool, const struct domain *domain)
{
    unsigned n = (unsigned)load_u32(&domain->members), sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += is_flagged(pool, atomic_load_explicit(&domain->member[i], memory_order_relaxed));
    return sum;
}

bool steal_is_any(const struct berth_tasks *pool, const struct domain *domain)
{
    return load_u32(&domain->waiting) || stealability(pool, domain);
}

static bool is_busy(const struct domain *domain)
{
    return !load_u32(&domain->searching) && !load_u32(&domain->sleepers);
}

static struct task *from_list(struct worker *me, struct domain *domain)
{
    struct task *task = queues_take(domain);

    if (task) {
        count(&me->counts.steals);
        count(&me->counts.remote);
    }
    return task;
}

/* Takes what another domain can spare: its workers take up as many tasks as they are next, and
 * those have their place there. */
static struct task *from_domain(struct worker *me, unsigned number, bool last)
{
    struct berth_tasks *pool = me->pool;
    struct domain *domain = pool->domain[number];
    int64_t members = load_u32(&domain->members);
    bool any = last && is_busy(domain);
    struct task *task = NULL;

    if (any || load_u32(&domain->waiting) > members)
        task = from_list(me, domain);
    if (!task && pool->stealing.domains &&
        (any || (stealability(pool, domain) && queues_tasks(pool, number) > members)))
        task = from_members(me, domain, any);
    return task;
}

/* One more task for a worker of the own domain: of the lists only those that are more than their
 * domain can run, since they have their place there. */
static struct task *one_more(struct worker *me, unsigned number, bool waited_for)
{
    return waited_for ? from_domain(me, number, false)
                      : from_members(me, me->pool->domain[number], false);
}

/* Brings tasks for the others of the own domain: one for each who has nothing to do, or half of
 * what waits on all queues there, if that is more. Then it is long until either domain needs the
 * other.
 */
static void bring_more(struct worker *me, unsigned number)
{
    struct berth_tasks *pool = me->pool;
    struct domain *mine = domain_of(me);
    int64_t others = load_u32(&mine->searching) + load_u32(&mine->sleepers) - 1;
    int64_t half = queues_tasks(pool, number) / 2, most = half > others ? half : others;
    struct task *first = NULL, *last = NULL, *task;
    unsigned n = 0;

    while (n < most && n < SHARED_MOST && (task = one_more(me, number, n < others))) {
        task->next = NULL;
        if (last)
            last->next = task;
        else
            first = task;
        last = task;
        n++;
    }
    if (n)
        queues_put(me->pool, (unsigned)load_u32(&me->domain), first, last, n);
}

static struct task *from_others(struct worker *me, bool last)
{
    struct berth_tasks *pool = me->pool;
    struct domain *mine = domain_of(me);
    uint32_t start = chance(me, pool->domains);
    struct task *task = NULL;

    for (uint32_t i = 0; i < pool->domains && !task; i++) {
        unsigned number = (start + i) % pool->domains;

        if (pool->domain[number] == mine)
            continue;
        task = from_domain(me, number, last);
        if (task && pool->stealing.domains)
            bring_more(me, number);
    }
    return task;
}

/* One worker of a domain at a time goes to others. */
static struct task *outside(struct worker *me, bool last)
{
    struct domain *mine = domain_of(me);
    struct task *task;

    if (atomic_exchange_explicit(&mine->outside, true, memory_order_acquire))
        return NULL;
    task = from_others(me, last);
    atomic_store_explicit(&mine->outside, false, memory_order_release);
    return task;
}

/* Only what the record waits for. If nobody runs it, and its worker's stack is not deep, that
 * worker comes to it; whose stack is deep has put it into the list of a domain. */
static struct task *look_under(struct worker *me, const struct record *record)
{
    struct task *task = NULL;

    for (unsigned d = 0; d < me->pool->domains && !task; d++)
        task = queues_take_under(me->pool->domain[d], record);
    return task;
}

struct task *steal_look(struct worker *me, const struct want *want, bool last)
{
    struct domain *mine = domain_of(me);
    struct task *task;

    if (want->bounded)
        return look_under(me, want->record);
    task = queues_take(mine);
    if (!task)
        task = me->pool->stealing.domains ? from_members(me, mine, last) : from_all(me, last);
    if (!task && me->pool->domains > 1 && (last || !me->pool->stealing.domains))
        task = outside(me, last);
    return task;
}
