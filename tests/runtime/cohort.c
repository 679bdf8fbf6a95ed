/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cohort - threads of several domains under one cohort, whose global lock is made of C11's atomics,
 * so that ThreadSanitizer sees all of it.
 *
 *   cohort DOMAINS THREADS TURNS BOUND [BARE | all]
 *
 * THREADS of each domain have TURNS turns together; BARE others take the global lock alone, each
 * BARE_TURNS times, while there are turns, and must have come to it. With `all` each turn lasts
 * until all the others wait: how long one waits then is the cohort's doing, and not that of a
 * machine on which a thread has no CPU. Prints what was counted, and what was wrong: two had the
 * lock at once, a turn was lost, fewer than nine in ten hand-overs were local, or a thread waited
 * longer than cohort.h says. Then it exits with 1. */
#include "runtime/cohort.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 512
#define BARE_TURNS 50

static struct {
    unsigned domains, threads, bare, bound;
    long turns;
    bool all;
} asked;

static struct cohort cohort;
static struct cohort_domain domain[COHORT_DOMAINS];
/* Of who has the lock. */
static long had, bare_had, in;
static long wrong; /* two were in at once */
static _Atomic unsigned bare_left;

/* ---- the global lock: unfair, as glibc's ---- */

static struct {
    _Atomic int locked, waiting;
} global_word;

static bool global_try(void *lock)
{
    int free = 0;

    (void)lock;
    return atomic_compare_exchange_strong(&global_word.locked, &free, 1);
}

static void global_lock(void *lock)
{
    atomic_fetch_add(&global_word.waiting, 1);
    while (!global_try(lock))
        sched_yield();
    atomic_fetch_sub(&global_word.waiting, 1);
}

static void global_unlock(void *lock)
{
    (void)lock;
    if (atomic_exchange(&global_word.locked, 0) != 1)
        abort();
}

static bool global_wanted(const void *lock)
{
    (void)lock;
    return atomic_load(&global_word.waiting) > 0;
}

static const struct cohort_global global = {global_lock, global_try, global_unlock, global_wanted};

/* ---- turns ---- */

/* Do all but the caller, who has the lock, wait for it, each domain (but the caller's, if it comes
 * with that) with a leader who has his ticket? Of each domain there are two threads or more. */
static bool all_wait(void)
{
    unsigned with = cohort.held != COHORT_BARE, leaders = asked.domains - with, n = 0;

    for (unsigned i = 0; i < asked.domains; i++)
        n += atomic_load(&domain[i].waiting);
    return atomic_load(&cohort.tickets) - atomic_load(&cohort.done) == leaders + with &&
           n + leaders == asked.domains * asked.threads - 1;
}

/* Sometimes the next ones come while it is at it, on machines of one CPU, too. */
static bool have_turn(long *count)
{
    bool more = had < asked.turns || atomic_load(&bare_left) > 0;

    wrong += in++;
    *count += more;
    if (*count % 32 == 0)
        sched_yield();
    while (asked.all && more && !all_wait())
        sched_yield();
    in--;
    return more;
}

static void *member(void *of)
{
    bool more = true;

    for (unsigned i = 1; more; i++) {
        cohort_lock(&cohort, (unsigned)(size_t)of);
        more = have_turn(&had);
        if (!asked.all && i % 64 == 0)
            cohort_let_go(&cohort);
        cohort_unlock(&cohort);
    }
    return NULL;
}

static void *bare(void *arg)
{
    for (int i = 0; i < BARE_TURNS; i++) {
        global_lock(NULL);
        have_turn(&bare_had);
        cohort_unlock(&cohort);
    }
    atomic_fetch_sub(&bare_left, 1);
    return arg;
}

static void run(void)
{
    pthread_t thread[THREADS_MAX];
    unsigned n = asked.domains * asked.threads;

    for (unsigned i = 0; i < n + asked.bare; i++)
        if (pthread_create(&thread[i], NULL, i < n ? member : bare,
                           (void *)(size_t)(i % asked.domains)) != 0)
            abort();
    for (unsigned i = 0; i < n + asked.bare; i++)
        pthread_join(thread[i], NULL);
}

/* What cohort.h promises. */
static unsigned longest(void)
{
    unsigned before_each = asked.bound / COHORT_BARGERS + 1, round = asked.bound + 1;
    unsigned rounds = 1 + (asked.threads - 1) * before_each / round;

    return (asked.domains > 1 ? asked.domains : 2) * round * rounds + asked.threads;
}

static int judge(void)
{
    const struct cohort_counts *counts = &cohort.counts;
    double local = 100.0 * (double)counts->local / (double)(counts->local + counts->remote);
    int wrongs = 0;

    printf("turns %ld bare %ld local %.1f longest %u", had, bare_had, local, counts->longest);
    if (asked.all)
        printf(" of %u", longest());
    puts("");
    if (wrong)
        wrongs += puts("two had the lock at once") > 0;
    if (had < asked.turns || bare_had != (long)asked.bare * BARE_TURNS)
        wrongs += puts("turns were lost") > 0;
    if (asked.all && counts->longest > longest())
        wrongs += puts("a thread waited longer than it may") > 0;
    if (!asked.bare && asked.bound >= COHORT_BOUND && asked.domains > 1 && local < 90)
        wrongs += puts("too few hand-overs were local") > 0;
    return wrongs > 0;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    asked.domains = (unsigned)atoi(argv[1]);
    asked.threads = (unsigned)atoi(argv[2]);
    asked.turns = atol(argv[3]);
    asked.bound = (unsigned)atoi(argv[4]);
    asked.all = argc > 5 && strcmp(argv[5], "all") == 0;
    asked.bare = argc > 5 && !asked.all ? (unsigned)atoi(argv[5]) : 0;
    if (asked.domains * asked.threads + asked.bare > THREADS_MAX || asked.domains == 0)
        return 2;
    atomic_store(&bare_left, asked.bare);
    for (unsigned i = 0; i < COHORT_DOMAINS; i++)
        cohort.domain[i] = &domain[i];
    cohort_begin(&cohort, &global, NULL, asked.bound);
    run();
    return judge();
}
