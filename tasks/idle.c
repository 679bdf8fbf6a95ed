/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/idle.h"

#include <sched.h>

#include "tasks/wake.h"

#define ROUNDS 10        /* of searching, before sleeping */
#define ROUNDS_DEALT 120 /* where there are domains whose workers deal it tasks */
#define ROUNDS_BUSY 6    /* of these the processor is not let go */

/* Tells the processor that this is a loop that waits. */
static void pause_moment(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* yield is nothing on most of them */
#endif
}

/* Says whether it waits no longer. */
static bool is_over(const struct worker *me, const struct want *want)
{
    return want->record ? record_is_done(want->record) : atomic_load(&me->pool->stopping);
}

/* Waits for a while that doubles with each round (eq. 3.2). */
static void back_off(unsigned round)
{
    if (round >= ROUNDS_BUSY)
        sched_yield();
    for (unsigned i = 0; round < ROUNDS_BUSY && i < 1u << round; i++)
        pause_moment();
}

/* Sleeps until it is woken, unless a last look finds a task, which it returns. */
static struct task *sleep_a_while(struct worker *me, const struct want *want)
{
    uint32_t state = want->bounded ? WORKER_JOINING : WORKER_ASLEEP;
    struct task *task;

    count(&me->counts.sleeps);
    wake_announce(me, state);
    if (want->record)
        record_settle(want->record);
    task = steal_look(me, want, true);
    if (task || is_over(me, want))
        wake_withdraw(me);
    else
        wake_sleep(me, state);
    return task;
}

/* How long it searches before it sleeps, and goes to other domains: those who work there deal it
 * the next tasks that they create, and it stays at home. */
static unsigned rounds_of(const struct worker *me)
{
    return load_u32(&me->pool->domains) > 1 && me->pool->stealing.domains ? ROUNDS_DEALT : ROUNDS;
}

static struct task *search(struct worker *me, const struct want *want)
{
    unsigned rounds = rounds_of(me);

    for (unsigned round = 0;; round++) {
        struct task *task = steal_look(me, want, false);

        if (!task && round >= rounds && !is_over(me, want)) {
            task = sleep_a_while(me, want);
            round = 0;
        }
        if (task || is_over(me, want))
            return task;
        back_off(round);
    }
}

/* Others rely on one that searches: it would run what they add. So one that can run only what it
 * waits for is not counted, and the last one that ends its search has the next one woken where
 * there is more, even if what it waited for has come. */
struct task *idle_until(struct worker *me, const struct want *want)
{
    struct domain *domain = domain_of(me);
    struct task *task;

    atomic_store(&me->idle_in, domain);
    atomic_fetch_add(&domain->searching, !want->bounded);
    task = search(me, want);
    if (!want->bounded && atomic_fetch_sub(&domain->searching, 1) == 1 &&
        (task || steal_is_any(me->pool, domain)))
        wake_next(me->pool, domain);
    return task;
}
