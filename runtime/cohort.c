/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cohort - see cohort.h.
 *
 * A domain is a word and a queue. Only the first of the queue waits for the word, the others each
 * on a word of their own (Mellor-Crummey and Scott 1991), and none has anything in the queue any
 * more when it has the lock: another thread may give it back. Who gives the domain back leaves its
 * word free, for the first of the queue, or for one that just comes and runs (waking a thread takes
 * longer than most turns), or gives it to the first of the queue, when as many others have come
 * before him as leave room for all who wait within the bound.
 *
 * Who has a domain without the global lock is its leader, and takes a ticket. The tickets have
 * their turns in order; a turn's word tells the leader that the global lock is his, or that he
 * shall take it himself, because it was given back, which is said before anybody asks. With the
 * ticket in a slot of its own no node of a queue has to outlive the thread that brought it.
 *
 * Bare owners would wait for ever while the domains hand the global lock on: so when somebody waits
 * bare it is given back at the end of a turn. When he still waits one turn later, he has lost
 * against a leader who runs: then the next leader is sent to the global lock in the middle of the
 * turn before, and waits there behind him.
 *
 * After what gives the lock away nothing is touched: the global lock's unlock, or telling a word,
 * are the last. (A word may be woken that already means something else. Who sleeps looks again.)
 * There are no fences: ThreadSanitizer knows atomics only. */
#include "runtime/cohort.h"

#include <sched.h>
#include <stddef.h>

#include "runtime/futex.h"

#ifndef SPINS
#define SPINS 100 /* some microseconds: as long as a short turn takes, or waking a thread */
#endif

/* Words that one thread waits on. */
#define SLEEPS 0x80000000u
enum domain_word { FREE, HELD, GIVEN /* to the first of the queue */ };
enum turn_word { CLOSED, TAKE /* the global lock */, HAVE /* it */ };
enum waiter_word { BEHIND, FIRST };

struct cohort_waiter {
    _Atomic uint32_t word;
    _Atomic(struct cohort_waiter *) next;
};

/* ---- words ---- */

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Returns what the word is when it is no longer the value. One thread waits on a word at a time. */
static uint32_t await(_Atomic uint32_t *word, uint32_t value)
{
    uint32_t now = atomic_load(word);

    for (int i = 0; i < SPINS && now == value; i++) {
        relax();
        now = atomic_load(word);
    }
    while ((now & ~SLEEPS) == value) {
        if (now & SLEEPS || atomic_compare_exchange_strong(word, &now, value | SLEEPS))
            futex_sleep(word, value | SLEEPS);
        now = atomic_load(word);
    }
    return now;
}

static void tell(_Atomic uint32_t *word, uint32_t value)
{
    if (atomic_exchange(word, value) & SLEEPS)
        futex_wake(word, 1);
}

/* ---- domains ---- */

/* Takes a domain that is free, also before those who wait. */
static bool barge(struct cohort_domain *domain)
{
    uint32_t free = FREE;

    if (atomic_load(&domain->word) != FREE ||
        !atomic_compare_exchange_strong(&domain->word, &free, HELD))
        return false;
    domain->barged++;
    return true;
}

/* Waits to be the first of the queue. Returns how many turns there had been when the thread came.
 */
static uint32_t enqueue(const struct cohort *cohort, struct cohort_domain *domain,
                        struct cohort_waiter *self)
{
    struct cohort_waiter *before;
    uint32_t came;

    atomic_fetch_add(&domain->waiting, 1);
    before = atomic_exchange(&domain->last, self);
    came = atomic_load(&cohort->turns);
    if (before) {
        atomic_store(&before->next, self);
        await(&self->word, BEHIND);
    }
    return came;
}

/* Who was behind it is the first now. One who sleeps is told when the domain is given back: woken
 * now, he might run where the caller does, and each turn would have two more switches of threads.
 */
static void dequeue(struct cohort_domain *domain, struct cohort_waiter *self)
{
    struct cohort_waiter *last = self, *next = atomic_load(&self->next);
    uint32_t word = BEHIND;

    if (next || !atomic_compare_exchange_strong(&domain->last, &last, NULL)) {
        for (; !next; next = atomic_load(&self->next))
            sched_yield(); /* he has come, and will say so */
        if (!atomic_compare_exchange_strong(&next->word, &word, FIRST))
            domain->asleep = next;
    }
    atomic_fetch_sub(&domain->waiting, 1);
}

/* Takes the domain. Returns how many turns there had been when the thread came. */
static uint32_t take_in_turn(const struct cohort *cohort, struct cohort_domain *domain)
{
    struct cohort_waiter self = {0};
    uint32_t came = enqueue(cohort, domain, &self), word;

    do
        word = await(&domain->word, HELD);
    while (!atomic_compare_exchange_strong(&domain->word, &word, HELD));
    domain->barged = 0;
    dequeue(domain, &self);
    return came;
}

static bool has_waiters(const struct cohort_domain *domain)
{
    return atomic_load(&domain->last) != NULL;
}

/* Gives the domain back. Nobody but the caller can tell who sleeps: till then he stays. */
static void give(struct cohort_domain *domain, enum domain_word to)
{
    struct cohort_waiter *asleep = domain->asleep;

    domain->asleep = NULL;
    tell(&domain->word, to);
    if (asleep)
        tell(&asleep->word, FIRST);
}

/* May one more who comes be before those who wait? As many as leave each of them a turn within the
 * bound; with many waiters some all the same, or each hand-over would wake a thread. */
static bool may_barge(const struct cohort *cohort, const struct cohort_domain *domain)
{
    uint32_t least = cohort->bound / COHORT_BARGERS, waiting = atomic_load(&domain->waiting);
    uint32_t room = atomic_load(&cohort->left) + domain->barged, each;

    each = (room < cohort->bound ? room : cohort->bound) / (waiting + !waiting);
    return domain->barged + 1 < (each > least ? each : least);
}

/* ---- the global lock ---- */

static _Atomic uint32_t *turn_of(struct cohort *cohort, uint32_t ticket)
{
    return &cohort->turn[ticket % COHORT_TURNS].word;
}

static void lead(struct cohort *cohort, struct cohort_domain *domain)
{
    _Atomic uint32_t *turn = turn_of(cohort, atomic_fetch_add(&cohort->tickets, 1));
    uint32_t word = await(turn, CLOSED);

    atomic_store(turn, CLOSED);
    if (word == TAKE)
        cohort->global->lock(cohort->lock);
    domain->global = true;
    domain->barged = 0;
    atomic_store(&cohort->left, cohort->bound);
}

/* Does another domain wait? */
static bool has_leaders(const struct cohort *cohort)
{
    return atomic_load(&cohort->tickets) != atomic_load(&cohort->done) + 1;
}

static bool is_wanted(const struct cohort *cohort)
{
    return cohort->global->wanted(cohort->lock);
}

/* Sends the next leader to the global lock early, so that he waits behind who waits bare. */
static void invite(struct cohort *cohort)
{
    if (cohort->invited || !cohort->bare_waited || atomic_load(&cohort->left) > cohort->bound / 2 ||
        !has_leaders(cohort) || !is_wanted(cohort))
        return;
    cohort->invited = true;
    tell(turn_of(cohort, atomic_load(&cohort->done) + 1), TAKE);
}

/* The turn ends: the next one has the lock, or takes it. */
static void end_turn(struct cohort *cohort, enum turn_word next)
{
    uint32_t ticket = atomic_load(&cohort->done) + 1;
    bool invited = cohort->invited;

    cohort->invited = false;
    atomic_store(&cohort->done, ticket);
    if (!invited)
        tell(turn_of(cohort, ticket), next);
}

/* Gives the domain back without the global lock, which the caller still has. */
static void leave(struct cohort *cohort)
{
    struct cohort_domain *domain = cohort->domain[cohort->held];

    cohort->held = COHORT_BARE;
    domain->global = false;
    give(domain, has_waiters(domain) ? GIVEN : FREE);
}

/* While hand-overs are left, who comes of the same domain may have the global lock before the next
 * leader takes it: waking him takes longer than most turns. */
static void give_up(struct cohort *cohort)
{
    const struct cohort_global *global = cohort->global;
    void *lock = cohort->lock;
    bool wanted = is_wanted(cohort);

    leave(cohort);
    if (!wanted && !cohort->invited && has_leaders(cohort) && !atomic_load(&cohort->left)) {
        cohort->bare_waited = false;
        end_turn(cohort, HAVE);
        return;
    }
    cohort->bare_waited = wanted && !cohort->invited;
    end_turn(cohort, TAKE);
    global->unlock(lock);
}

/* The caller, of that domain, has the lock; it came when there had been so many turns. */
static void count(struct cohort *cohort, int32_t domain, uint32_t came)
{
    int32_t last = atomic_load(&cohort->last);
    uint32_t turns = atomic_load(&cohort->turns);

    cohort->counts.local += domain == last;
    cohort->counts.remote += domain != last && last != COHORT_BARE;
    if (turns - came > cohort->counts.longest)
        cohort->counts.longest = turns - came;
    atomic_store(&cohort->turns, turns + 1);
    atomic_store(&cohort->last, domain);
}

/* Takes the global lock alone: where no domain has it or waits for it, and, as long as hand-overs
 * are left to the domain, where it is free because the next leader is about to take it. */
static bool take_bare(struct cohort *cohort, int32_t domain)
{
    uint32_t done = atomic_load(&cohort->done), left = atomic_load(&cohort->left);
    bool idle = atomic_load(&cohort->tickets) == done; /* read later: and so it was, for once */

    if (!idle && (domain != atomic_load(&cohort->last) || left == 0))
        return false;
    if (!cohort->global->try(cohort->lock))
        return false;
    left = atomic_load(&cohort->left);
    atomic_store(&cohort->left, idle || left == 0 ? 0 : left - 1);
    count(cohort, domain, atomic_load(&cohort->turns));
    return true;
}

/* ---- what can be done ---- */

/* What is 0 is not written: the first who writes is of the domain, and so the page on its node. */
static void begin_domain(struct cohort_domain *domain)
{
    if (!atomic_load(&domain->word) && !atomic_load(&domain->last) && !domain->global)
        return;
    atomic_store(&domain->word, FREE);
    atomic_store(&domain->last, NULL);
    atomic_store(&domain->waiting, 0);
    domain->global = false;
    domain->asleep = NULL;
}

void cohort_begin(struct cohort *cohort, const struct cohort_global *global, void *lock,
                  uint32_t bound)
{
    for (size_t i = 0; i < COHORT_DOMAINS; i++)
        begin_domain(cohort->domain[i]);
    for (uint32_t i = 0; i < COHORT_TURNS; i++)
        atomic_store(turn_of(cohort, i), i == 0 ? TAKE : CLOSED);
    cohort->global = global;
    cohort->lock = lock;
    cohort->bound = bound;
    atomic_store(&cohort->tickets, 0);
    atomic_store(&cohort->done, 0);
    atomic_store(&cohort->last, COHORT_BARE);
    atomic_store(&cohort->left, 0);
    cohort->held = COHORT_BARE;
    cohort->bare_waited = cohort->invited = false;
    atomic_store(&cohort->turns, 0);
    cohort->counts = (struct cohort_counts){0};
}

void cohort_lock(struct cohort *cohort, unsigned of)
{
    int32_t held = (int32_t)(of % COHORT_DOMAINS);
    struct cohort_domain *domain = cohort->domain[held];
    uint32_t came;

    if (take_bare(cohort, held))
        return;
    came = barge(domain) ? atomic_load(&cohort->turns) : take_in_turn(cohort, domain);
    if (!domain->global)
        lead(cohort, domain);
    count(cohort, held, came);
    cohort->held = held;
}

void cohort_unlock(struct cohort *cohort)
{
    struct cohort_domain *domain;
    uint32_t left;

    if (cohort->held == COHORT_BARE) {
        cohort->global->unlock(cohort->lock);
        return;
    }
    domain = cohort->domain[cohort->held];
    left = atomic_load(&cohort->left);
    if (left == 0 && !has_leaders(cohort) && !is_wanted(cohort))
        left = cohort->bound;
    if (!has_waiters(domain) || left == 0) {
        give_up(cohort);
        return;
    }
    invite(cohort);
    atomic_store(&cohort->left, left - 1);
    cohort->held = COHORT_BARE;
    give(domain, may_barge(cohort, domain) ? FREE : GIVEN);
}

void cohort_let_go(struct cohort *cohort)
{
    if (cohort->held == COHORT_BARE)
        return;
    leave(cohort);
    end_turn(cohort, TAKE);
}
