/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_exchange - which caches of a node jobs of any size stand on better, by what somebody takes
 * for the truth of pairs.
 *
 * As long as the node gains by it, what a job has on one cache changes places with as many cores of
 * others on another cache, or goes to free places there; of a job of ranks one core may go alone,
 * too. A job of one task never comes to more caches than it is on: its threads share data, of which
 * the truth knows nothing. It is a best found, not proven. */
#ifndef BERTH_BENCH_DAY_EXCHANGE_H
#define BERTH_BENCH_DAY_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/bench/day_beside.h"

struct day_exchange_job {
    size_t app, tasks;
    bool may; /* be moved */
};

/* How many cores each job has on each cache. Whoever fills it owns the arrays. */
struct day_exchange {
    const struct day_beside *beside;
    size_t n, llcs;
    const struct day_exchange_job *job; /* [n] */
    size_t *on;                         /* [n][llcs] */
    size_t *free; /* [llcs] places that are left; NULL: none, or nobody may have them */
    double *lost; /* [llcs] the work that all on that cache lose, in cores: day_exchange_weigh */
};

static inline size_t *day_exchange_on(const struct day_exchange *state, size_t job, size_t llc)
{
    return &state->on[job * state->llcs + llc];
}

/* Returns the work that all on a cache lose there, in cores. */
double day_exchange_lost(const struct day_exchange *state, size_t llc);

/* Fills `lost`, and returns its sum. */
double day_exchange_weigh(struct day_exchange *state);

/* Has jobs change places until the node gains by none any more. `lost` is filled. */
void day_exchange_search(struct day_exchange *state);

#endif
