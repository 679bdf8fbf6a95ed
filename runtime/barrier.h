/* SPDX-License-Identifier: GPL-2.0-or-later */
/* barrier - a barrier that is distributed over domains (FlexThread, Wang 2015, section 6.5, after
 * Mellor-Crummey and Scott 1991): threads arrive at, and sleep at, what only their domain uses, and
 * the last of a domain tells the others. */
#ifndef BERTH_RUNTIME_BARRIER_H
#define BERTH_RUNTIME_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

#define BARRIER_THREADS_MAX 1000000 /* of one barrier */

struct barrier;

/* What a barrier has cost; right while nobody is at it. */
struct barrier_counts {
    uint64_t rounds; /* that have ended */
    uint64_t global; /* atomic operations on what all domains share: at most one a domain and round
                      */
    uint64_t guests; /* arrivals at another domain than the thread's own, because threads of the
                      * own domain came that had not been there the round before */
};

/* Returns a barrier for so many threads, 1 to BARRIER_THREADS_MAX; NULL: there is no memory. For
 * barrier_end(). This and the others keep errno. */
struct barrier *barrier_make(uint32_t threads);

/* Waits until as many threads have called it as the barrier is for; may be called again at once.
 * Also by more threads than those, of which then some wait for the next round. Returns true in one
 * thread of a round. No cancellation point. */
bool barrier_wait(struct barrier *barrier);

/* Ends a barrier, when all threads of the rounds that have ended have left it. One at which threads
 * still wait is left to them. */
void barrier_end(struct barrier *barrier);

void barrier_count(const struct barrier *barrier, struct barrier_counts *counts);

#endif
