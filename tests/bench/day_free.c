/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_free - see day_free.h */
#include "tests/bench/day_free.h"

#include "tests/bench/day_random.h"
#include "tests/bench/day_search.h"
#include "tests/bench/day_threads.h"

/* ---- on the cores that Slurm has given somebody ---- */

static void plan_do(struct day_sim *sim)
{
    for (size_t i = 0; i < sim->live; i++)
        day_sim_stand(sim, sim->running[i], sim->running[i]->core[DAY_PLAN]);
}

/* Draws one of those that the job may exchange its cores with. */
static struct day_job *draw_partner(const struct day_sim *sim, struct day_job *job)
{
    uint64_t seed = day_random_seed(sim->plan.seed, 5, job->id);
    struct day_job *drawn = job;
    size_t n = 0;

    for (size_t i = 0; i < sim->live; i++)
        if (day_search_may(sim, sim->running[i], DAY_PLAN) &&
            sim->running[i]->cores == job->cores && day_random(&seed) * (double)++n < 1)
            drawn = sim->running[i];
    return drawn;
}

static int lot_changed(void *state, struct day_sim *sim, struct berth_error *err)
{
    (void)state, (void)err;
    day_search_begin(sim);
    for (size_t i = 0; i < sim->live; i++) {
        struct day_job *job = sim->running[i], *partner;

        if (job->starts != sim->now || !day_search_may(sim, job, DAY_PLAN))
            continue;
        partner = draw_partner(sim, job);
        if (partner != job)
            day_search_exchange(job, partner, DAY_PLAN);
    }
    plan_do(sim);
    return 0;
}

static int misses_changed(void *state, struct day_sim *sim, struct berth_error *err)
{
    (void)state, (void)err;
    day_search_begin(sim);
    day_search(sim, DAY_PLAN, day_cost_misses);
    plan_do(sim);
    return 0;
}

/* ---- on all cores ---- */

/* Marks the cores that somebody but `job` stands on. */
static void mark_taken(const struct day_sim *sim, const struct day_job *job, bool *taken)
{
    for (size_t i = 0; i < sim->live; i++)
        for (size_t c = 0; sim->running[i] != job && c < sim->running[i]->cores; c++)
            taken[sim->running[i]->core[DAY_STAND][c]] = true;
}

/* Returns the cache with most cores that are not taken. */
static size_t emptiest(const struct day_sim *sim, const bool *taken)
{
    size_t idle[CPUS_MAX] = {0}, best = 0;

    for (size_t c = 0; c < sim->topo->cores; c++)
        idle[sim->topo->core[c].llc] += !taken[c];
    for (size_t g = 1; g < sim->topo->llcs; g++)
        if (idle[g] > idle[best])
            best = g;
    return best;
}

/* Takes cores of a cache that nobody has; `lone`: only those of which nobody has another thread.
 * Returns how many the job has then, of the n that it had. */
static size_t take_there(const struct day_sim *sim, const struct day_job *job, size_t llc,
                         bool lone, bool *taken, size_t *core, size_t n)
{
    for (size_t c = 0; c < sim->topo->cores && n < job->cores; c++)
        if (sim->topo->core[c].llc == llc && !taken[c] &&
            (!lone || day_threads_is_lone(sim->topo, taken, c))) {
            taken[c] = true;
            core[n++] = c;
        }
    return n;
}

/* Puts a job on the emptiest cache, and what is over on the next one. */
static void go_where_empty(struct day_sim *sim, struct day_job *job)
{
    bool taken[CPUS_MAX] = {false};
    size_t core[CPUS_MAX], n = 0;

    mark_taken(sim, job, taken);
    while (n < job->cores) {
        size_t llc = emptiest(sim, taken);

        n = take_there(sim, job, llc, true, taken, core, n);
        n = take_there(sim, job, llc, false, taken, core, n);
    }
    day_sim_stand(sim, job, core);
}

static bool stands_on(const struct day_job *job, const struct day_job *home)
{
    for (size_t c = 0; c < job->cores; c++)
        for (size_t d = 0; d < home->cores; d++)
            if (job->core[DAY_STAND][c] == home->core[DAY_HOME][d])
                return true;
    return false;
}

/* A stranger gets his own cores: who stands there goes. */
static int emptiest_start(void *state, struct day_sim *sim, struct day_job *job,
                          struct berth_error *err)
{
    (void)state, (void)err;
    if (job->will != DAY_STRANGER)
        go_where_empty(sim, job);
    for (size_t i = 0; job->will == DAY_STRANGER && i < sim->live; i++)
        if (sim->running[i] != job && stands_on(sim->running[i], job))
            go_where_empty(sim, sim->running[i]);
    return 0;
}

static int knowing_start(void *state, struct day_sim *sim, struct day_job *job,
                         struct berth_error *err)
{
    (void)state, (void)err;
    day_search_begin(sim);
    if (job->will != DAY_STRANGER)
        day_search_start(sim, job);
    plan_do(sim);
    return 0;
}

const struct day_placer day_free_placer[DAY_FREE_PLACERS] = {
    {.name = "lot", .changed = lot_changed},
    {.name = "missrate", .changed = misses_changed},
    {.name = "emptiest", .idle = true, .start = emptiest_start},
    {.name = "atstart", .start = knowing_start},
};
