/* SPDX-License-Identifier: GPL-2.0-or-later */
/* futex - threads sleep at a word and are woken there, without libc's cancellation points; a latch
 * made of one, for a few instructions. The words are of this process alone. All keep errno. */
#ifndef BERTH_RUNTIME_FUTEX_H
#define BERTH_RUNTIME_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FUTEX_ALL INT_MAX

/* Sleeps while the word has the value, at most until a time of the clock (CLOCK_REALTIME or
 * CLOCK_MONOTONIC), where one is given; one before 1970 is over, too. May return for no reason.
 * Returns 0 or ETIMEDOUT. */
static inline int futex_sleep_until(_Atomic uint32_t *word, uint32_t value, clockid_t clock,
                                    const struct timespec *until)
{
    int before = errno, rc;

    rc = (int)syscall(SYS_futex, word,
                      FUTEX_WAIT_BITSET_PRIVATE |
                          (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0),
                      value, until, NULL, FUTEX_BITSET_MATCH_ANY);
    rc = rc < 0 && (errno == ETIMEDOUT || (errno == EINVAL && until)) ? ETIMEDOUT : 0;
    errno = before;
    return rc;
}

static inline void futex_sleep(_Atomic uint32_t *word, uint32_t value)
{
    futex_sleep_until(word, value, CLOCK_MONOTONIC, NULL);
}

/* Wakes as many threads. The word need not be there any more. */
static inline void futex_wake(_Atomic uint32_t *word, int threads)
{
    int before = errno;

    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
    errno = before;
}

/* 0: free; 1: taken; 2: taken, and somebody may sleep. */
struct latch {
    _Atomic uint32_t word;
};

static inline bool latch_try(struct latch *latch)
{
    uint32_t is = 0;

    return atomic_compare_exchange_strong_explicit(&latch->word, &is, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

static inline void latch_take(struct latch *latch)
{
    if (latch_try(latch))
        return;
    while (atomic_exchange_explicit(&latch->word, 2, memory_order_acquire) != 0)
        futex_sleep(&latch->word, 2);
}

/* Says whether somebody may sleep for it. */
static inline bool latch_is_wanted(const struct latch *latch)
{
    return atomic_load_explicit(&latch->word, memory_order_relaxed) > 1;
}

static inline void latch_give(struct latch *latch)
{
    if (atomic_exchange_explicit(&latch->word, 0, memory_order_release) == 2)
        futex_wake(&latch->word, 1);
}

#endif
