/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_exchange - see day_exchange.h */
#include "tests/bench/day_exchange.h"

#include "packer/base/cpus.h"

#define GAIN 1e-6 /* of a core's work: less is no reason to move anybody */

/* ---- what a state is worth ---- */

double day_exchange_lost(const struct day_exchange *state, size_t llc)
{
    struct day_part part[CPUS_MAX];
    size_t n = 0;
    double sum = 0;

    for (size_t i = 0; i < state->n; i++)
        if (*day_exchange_on(state, i, llc) > 0)
            part[n++] = (struct day_part){state->job[i].app, *day_exchange_on(state, i, llc)};
    for (size_t i = 0; i < n; i++) {
        double d = day_beside_on(state->beside, part, n, i);

        sum += (double)part[i].cores * d / (1 + d);
    }
    return sum;
}

double day_exchange_weigh(struct day_exchange *state)
{
    double sum = 0;

    for (size_t llc = 0; llc < state->llcs; llc++)
        sum += state->lost[llc] = day_exchange_lost(state, llc);
    return sum;
}

/* ---- one exchange ---- */

/* What changes places between two caches: cores of one job on `from`, and of each job on `to`; the
 * rest of them go to free places there. */
struct exchange {
    size_t job, from, to, cores, freely;
    size_t n;
    struct {
        size_t job, cores;
    } other[CPUS_MAX];
};

static void move(const struct day_exchange *state, size_t job, size_t from, size_t to, size_t cores)
{
    *day_exchange_on(state, job, from) -= cores;
    *day_exchange_on(state, job, to) += cores;
}

static void carry_out(const struct day_exchange *state, const struct exchange *exchange, bool back)
{
    size_t from = back ? exchange->to : exchange->from, to = back ? exchange->from : exchange->to;

    move(state, exchange->job, from, to, exchange->cores);
    for (size_t k = 0; k < exchange->n; k++)
        move(state, exchange->other[k].job, to, from, exchange->other[k].cores);
    if (exchange->freely > 0) {
        state->free[from] += exchange->freely;
        state->free[to] -= exchange->freely;
    }
}

/* Says whether a job stays on as few caches if so many cores go. */
static bool stays_gathered(const struct day_exchange *state, size_t job, size_t from, size_t to,
                           size_t cores)
{
    return state->job[job].tasks > 1 || *day_exchange_on(state, job, from) == cores ||
           *day_exchange_on(state, job, to) > 0;
}

static size_t free_on(const struct day_exchange *state, size_t llc)
{
    return state->free ? state->free[llc] : 0;
}

/* Finds as many cores on `to`: those of job `first`, then those of others in their order, then free
 * places. Returns whether there are. */
static bool exchange_fill(const struct day_exchange *state, struct exchange *exchange, size_t first)
{
    size_t left = exchange->cores;

    exchange->n = 0;
    for (size_t k = 0; k < state->n && left > 0; k++) {
        size_t job = (first + k) % state->n, has = *day_exchange_on(state, job, exchange->to);
        size_t cores = has < left ? has : left;

        if (cores == 0 || job == exchange->job || !state->job[job].may ||
            !stays_gathered(state, job, exchange->to, exchange->from, cores))
            continue;
        exchange->other[exchange->n].job = job;
        exchange->other[exchange->n++].cores = cores;
        left -= cores;
    }
    exchange->freely = left;
    return left <= free_on(state, exchange->to) && exchange->n > 0 &&
           exchange->other[0].job == first;
}

/* Says whether one job changes places with another of its program: that changes nothing. */
static bool is_idle(const struct day_exchange *state, const struct exchange *exchange)
{
    return exchange->n == 1 && exchange->freely == 0 &&
           state->job[exchange->job].app == state->job[exchange->other[0].job].app;
}

/* Carries it out if the node gains by it. */
static bool try_exchange(const struct day_exchange *state, const struct exchange *exchange)
{
    double from, to, before = state->lost[exchange->from] + state->lost[exchange->to];

    carry_out(state, exchange, false);
    from = day_exchange_lost(state, exchange->from);
    to = day_exchange_lost(state, exchange->to);
    if (from + to < before - GAIN) {
        state->lost[exchange->from] = from;
        state->lost[exchange->to] = to;
        return true;
    }
    carry_out(state, exchange, true);
    return false;
}

/* ---- the search ---- */

/* Tries free places alone. */
static bool try_free(const struct day_exchange *state, struct exchange *exchange)
{
    exchange->n = 0;
    exchange->freely = exchange->cores;
    return free_on(state, exchange->to) >= exchange->cores && try_exchange(state, exchange);
}

static bool try_cores(const struct day_exchange *state, struct exchange *exchange, size_t cores)
{
    exchange->cores = cores;
    for (size_t to = 0; to < state->llcs; to++) {
        if (to == exchange->from ||
            !stays_gathered(state, exchange->job, exchange->from, to, cores))
            continue;
        exchange->to = to;
        if (try_free(state, exchange))
            return true;
        for (size_t first = 0; first < state->n; first++)
            if (*day_exchange_on(state, first, to) > 0 && exchange_fill(state, exchange, first) &&
                !is_idle(state, exchange) && try_exchange(state, exchange))
                return true;
    }
    return false;
}

static bool better(const struct day_exchange *state)
{
    struct exchange exchange; /* each try fills it */
    bool any = false;

    for (size_t i = 0; i < state->n; i++)
        for (size_t llc = 0; llc < state->llcs; llc++) {
            size_t cores = *day_exchange_on(state, i, llc);

            exchange.job = i;
            exchange.from = llc;
            if (cores > 0 && state->job[i].may && state->lost[llc] > 0 &&
                (try_cores(state, &exchange, cores) ||
                 (cores > 1 && state->job[i].tasks > 1 && try_cores(state, &exchange, 1))))
                any = true;
        }
    return any;
}

void day_exchange_search(struct day_exchange *state)
{
    while (better(state))
        ;
}
