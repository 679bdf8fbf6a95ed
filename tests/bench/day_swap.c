/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_swap - see day_swap.h */
#include "tests/bench/day_swap.h"

#include <stdlib.h>
#include <string.h>

#define GAIN 1e-6 /* of a core's work: less is no reason to move anybody */

/* How many cores each running job has on each cache. */
struct swap {
    struct day_sim *sim;
    size_t n, llcs;
    size_t *on;   /* [n][llcs] */
    double *lost; /* [llcs] the work that all on that cache lose, in cores */
};

static size_t *on(const struct swap *swap, size_t job, size_t llc)
{
    return &swap->on[job * swap->llcs + llc];
}

/* ---- what a state is worth ---- */

static double lost_on(const struct swap *swap, size_t llc)
{
    const struct day_sim *sim = swap->sim;
    struct day_part part[CPUS_MAX];
    size_t n = 0;
    double sum = 0;

    for (size_t i = 0; i < swap->n; i++)
        if (*on(swap, i, llc) > 0)
            part[n++] = (struct day_part){sim->running[i]->app, *on(swap, i, llc)};
    for (size_t i = 0; i < n; i++) {
        double d = day_beside_on(&sim->beside, part, n, i);

        sum += (double)part[i].cores * d / (1 + d);
    }
    return sum;
}

static double swap_fill(struct swap *swap, enum day_where where)
{
    double sum = 0;

    memset(swap->on, 0, swap->n * swap->llcs * sizeof(*swap->on));
    for (size_t i = 0; i < swap->n; i++) {
        const struct day_job *job = swap->sim->running[i];

        for (size_t c = 0; c < job->cores; c++)
            ++*on(swap, i, swap->sim->topo->core[job->core[where][c]].llc);
    }
    for (size_t llc = 0; llc < swap->llcs; llc++)
        sum += swap->lost[llc] = lost_on(swap, llc);
    return sum;
}

/* ---- one exchange ---- */

/* What changes places between two caches: cores of one job on `from`, and of each job on `to`. */
struct exchange {
    size_t job, from, to, cores;
    size_t n;
    struct {
        size_t job, cores;
    } other[CPUS_MAX];
};

static void move(const struct swap *swap, size_t job, size_t from, size_t to, size_t cores)
{
    *on(swap, job, from) -= cores;
    *on(swap, job, to) += cores;
}

static void carry_out(const struct swap *swap, const struct exchange *exchange, bool back)
{
    size_t from = back ? exchange->to : exchange->from, to = back ? exchange->from : exchange->to;

    move(swap, exchange->job, from, to, exchange->cores);
    for (size_t k = 0; k < exchange->n; k++)
        move(swap, exchange->other[k].job, to, from, exchange->other[k].cores);
}

/* Says whether a job stays on as few caches if so many cores go. */
static bool stays_gathered(const struct swap *swap, size_t job, size_t from, size_t to,
                           size_t cores)
{
    return swap->sim->running[job]->tasks > 1 || *on(swap, job, from) == cores ||
           *on(swap, job, to) > 0;
}

/* Finds as many cores on `to`: those of job `first`, and then those of others in their order.
 * Returns whether there are. */
static bool exchange_fill(const struct swap *swap, struct exchange *exchange, size_t first)
{
    size_t left = exchange->cores;

    exchange->n = 0;
    for (size_t k = 0; k < swap->n && left > 0; k++) {
        size_t job = (first + k) % swap->n, has = *on(swap, job, exchange->to);
        size_t cores = has < left ? has : left;

        if (cores == 0 || job == exchange->job || swap->sim->running[job]->will != DAY_FREE ||
            !stays_gathered(swap, job, exchange->to, exchange->from, cores))
            continue;
        exchange->other[exchange->n].job = job;
        exchange->other[exchange->n++].cores = cores;
        left -= cores;
    }
    return left == 0 && exchange->other[0].job == first;
}

/* Says whether one job changes places with another of its program: that changes nothing. */
static bool is_idle(const struct swap *swap, const struct exchange *exchange)
{
    return exchange->n == 1 && swap->sim->running[exchange->job]->app ==
                                   swap->sim->running[exchange->other[0].job]->app;
}

/* Carries it out if the node gains by it. */
static bool try_exchange(struct swap *swap, const struct exchange *exchange)
{
    double from, to, before = swap->lost[exchange->from] + swap->lost[exchange->to];

    carry_out(swap, exchange, false);
    from = lost_on(swap, exchange->from);
    to = lost_on(swap, exchange->to);
    if (from + to < before - GAIN) {
        swap->lost[exchange->from] = from;
        swap->lost[exchange->to] = to;
        return true;
    }
    carry_out(swap, exchange, true);
    return false;
}

/* ---- the search ---- */

static bool try_cores(struct swap *swap, size_t job, size_t from, size_t cores)
{
    struct exchange exchange = {.job = job, .from = from, .cores = cores};

    for (size_t to = 0; to < swap->llcs; to++) {
        if (to == from || !stays_gathered(swap, job, from, to, cores))
            continue;
        exchange.to = to;
        for (size_t first = 0; first < swap->n; first++)
            if (*on(swap, first, to) > 0 && exchange_fill(swap, &exchange, first) &&
                !is_idle(swap, &exchange) && try_exchange(swap, &exchange))
                return true;
    }
    return false;
}

static bool better(struct swap *swap)
{
    bool any = false;

    for (size_t i = 0; i < swap->n; i++)
        for (size_t llc = 0; llc < swap->llcs; llc++) {
            size_t cores = *on(swap, i, llc);

            if (cores > 0 && swap->sim->running[i]->will == DAY_FREE && swap->lost[llc] > 0 &&
                (try_cores(swap, i, llc, cores) ||
                 (cores > 1 && swap->sim->running[i]->tasks > 1 && try_cores(swap, i, llc, 1))))
                any = true;
        }
    return any;
}

/* ---- cores ---- */

/* Jobs keep the cores that they have on a cache, as far as they are to have as many there. */
static void keep_cores(const struct swap *swap, struct day_job **owner, size_t *left)
{
    memcpy(left, swap->on, swap->n * swap->llcs * sizeof(*left));
    for (size_t i = 0; i < swap->n; i++) {
        struct day_job *job = swap->sim->running[i];

        for (size_t c = 0; c < job->cores; c++) {
            size_t core = job->core[DAY_BEST][c];
            size_t *wanted = &left[i * swap->llcs + swap->sim->topo->core[core].llc];

            if (*wanted > 0) {
                owner[core] = job;
                --*wanted;
            }
        }
    }
}

static void fill_cores(const struct swap *swap, struct day_job **owner, size_t *left)
{
    const struct day_sim *sim = swap->sim;

    for (size_t core = 0; core < sim->topo->cores; core++)
        for (size_t i = 0; i < swap->n && sim->slurm[core] && !owner[core]; i++) {
            size_t *wanted = &left[i * swap->llcs + sim->topo->core[core].llc];

            if (*wanted > 0) {
                owner[core] = sim->running[i];
                --*wanted;
            }
        }
}

static void stand(const struct swap *swap, struct day_job **owner)
{
    for (size_t i = 0; i < swap->n; i++) {
        struct day_job *job = swap->sim->running[i];

        for (size_t core = 0, n = 0; n < job->cores && core < swap->sim->topo->cores; core++)
            if (owner[core] == job)
                job->core[DAY_BEST][n++] = core;
    }
}

int day_swap_find(struct day_sim *sim, struct berth_error *err)
{
    struct swap swap = {.sim = sim, .n = sim->live, .llcs = sim->topo->llcs};
    struct day_job *owner[CPUS_MAX] = {NULL};
    size_t states = swap.n * swap.llcs, *left;

    if (swap.n == 0)
        return 0;
    left = calloc(2 * states, sizeof(*left));
    swap.lost = calloc(swap.llcs, sizeof(*swap.lost));
    swap.on = left ? left + states : NULL;
    if (left && swap.lost) {
        double home = swap_fill(&swap, DAY_HOME), before = swap_fill(&swap, DAY_BEST);

        if (home < before)
            swap_fill(&swap, DAY_HOME);
        while (better(&swap))
            ;
        keep_cores(&swap, owner, left);
        fill_cores(&swap, owner, left);
        stand(&swap, owner);
    }
    free(left);
    free(swap.lost);
    return left && swap.lost ? 0 : berth_no_memory(err);
}
