/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cohort - a lock that is handed over within a memory node while threads of that node wait for it
 * (Dice 2012; Vikranth 2018, section 6.3).
 *
 * It stands before another lock, the global one, whose lock it is: who has the cohort has the
 * global lock, too, and whoever takes the global lock by itself is kept out, and keeps out, as
 * ever. Such a one is a *bare* owner; the cohort does not know of him until he asks.
 *
 * A thread has its domain first, and then the global lock; it gives the domain with the global lock
 * to the next of its domain, up to a bound, then the global lock to the next domain, in the order
 * in which they asked. */
#ifndef BERTH_RUNTIME_COHORT_H
#define BERTH_RUNTIME_COHORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define COHORT_DOMAINS 16 /* the d-th and the (d + 16)-th are one */
#define COHORT_TURNS 32   /* a power of 2, more than COHORT_DOMAINS + 1 */
#define COHORT_BARE (-1)
#define COHORT_BOUND 64  /* where nothing else is said */
#define COHORT_BARGERS 8 /* at least bound / COHORT_BARGERS may be before one who waits first */

struct cohort_waiter;

/* What the threads of one domain share, on lines of their own. All 0 is a domain nobody has. */
struct cohort_domain {
    _Alignas(128) _Atomic uint32_t word; /* enum domain_word; its first waiter sleeps here */
    _Atomic uint32_t waiting;            /* threads in the queue */
    _Atomic(struct cohort_waiter *) last;
    /* Of who has the domain. */
    bool global;                  /* the global lock comes with the domain */
    uint32_t barged;              /* hand-overs to threads that did not wait, since one did */
    struct cohort_waiter *asleep; /* the first of the queue, who is to be woken; or NULL */
};

/* The lock that the domains share. */
struct cohort_global {
    void (*lock)(void *lock);
    bool (*try)(void *lock);
    void (*unlock)(void *lock);       /* by any thread */
    bool (*wanted)(const void *lock); /* may somebody wait for it who is in no queue here? */
};

struct cohort_counts {
    uint64_t local, remote; /* hand-overs within a domain, between two */
    uint32_t longest;       /* turns that others had while a thread waited */
};

struct cohort {
    const struct cohort_global *global;
    void *lock;
    uint32_t bound;
    _Atomic uint32_t tickets; /* that leaders have taken: who has a domain, without the lock */
    _Atomic uint32_t done;    /* of these, how many have had their turn */
    /* Written by who has the lock. */
    _Atomic int32_t last;   /* the domain that had it last */
    _Atomic uint32_t left;  /* hand-overs that it may still have within itself */
    _Atomic uint32_t turns; /* of threads, with the lock; it begins again at 0 */
    /* Of who has the lock. */
    int32_t held;     /* the domain it is held with; or COHORT_BARE */
    bool bare_waited; /* when the turn before ended */
    bool invited;     /* the next leader was already sent to the global lock */
    struct cohort_counts counts;
    struct {
        _Alignas(64) _Atomic uint32_t word; /* enum turn_word; the leader with the ticket sleeps */
    } turn[COHORT_TURNS];
    struct cohort_domain *domain[COHORT_DOMAINS];
};

/* Makes a cohort of `lock`, which nobody uses through it yet. domain[] is filled by the caller:
 * each all 0, or of a cohort that there was; they and `global` stay. bound: how many hand-overs
 * there are within a domain, one after the other, while another domain waits. */
void cohort_begin(struct cohort *cohort, const struct cohort_global *global, void *lock,
                  uint32_t bound);

/* Waits for the lock as a thread of that domain. With W who wait in its domain, itself among them,
 * it has the lock after at most domains x (bound + 1) x R + W turns of others, R being
 * 1 + (W - 1) (bound / COHORT_BARGERS + 1) / (bound + 1), rounded down: 1 for up to seven. One
 * domain counts as two here. Turns of bare owners come on top. No cancellation point; keeps errno.
 */
void cohort_lock(struct cohort *cohort, unsigned domain);

/* Gives the lock, by whom ever it was taken and also a bare one, to who is next. The cohort is not
 * touched when another can have it. Keeps errno. */
void cohort_unlock(struct cohort *cohort);

/* Makes the caller, who has the lock, a bare owner: the global lock's own unlock is enough. */
void cohort_let_go(struct cohort *cohort);

#endif
