/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_search - see day_search.h */
#include "tests/bench/day_search.h"

#include <string.h>

#define GAIN 1e-9 /* part of the cost: less is no reason to move anybody */

long day_search_llc(const struct day_sim *sim, const struct day_job *job, enum day_where where)
{
    size_t llc = sim->topo->core[job->core[where][0]].llc;

    for (size_t c = 1; c < job->cores; c++)
        if (sim->topo->core[job->core[where][c]].llc != llc)
            return -1;
    return (long)llc;
}

bool day_search_is_free(const struct day_sim *sim, const struct day_job *job, enum day_where where)
{
    return job->will == DAY_FREE || (job->will == DAY_KEPT && where == DAY_BEST && sim->plan.idle);
}

bool day_search_may(const struct day_sim *sim, const struct day_job *job, enum day_where where)
{
    return day_search_is_free(sim, job, where) && day_search_llc(sim, job, where) >= 0;
}

/* ---- costs ---- */

double day_cost_work(const struct day_sim *sim, enum day_where where, size_t llc, size_t other)
{
    double sum = 0;

    for (size_t i = 0; i < sim->live; i++) {
        const struct day_job *job = sim->running[i];
        double d;

        if (day_sim_cores_on(sim, job, where, llc) + day_sim_cores_on(sim, job, where, other) == 0)
            continue;
        d = day_sim_slowdown(sim, job, where);
        sum += (double)job->cores * d / (1 + d);
    }
    return sum;
}

double day_cost_all(const struct day_sim *sim, enum day_where where)
{
    double sum = 0;

    for (size_t i = 0; i < sim->live; i++) {
        double d = day_sim_slowdown(sim, sim->running[i], where);

        sum += (double)sim->running[i]->cores * d / (1 + d);
    }
    return sum;
}

static double misses_on(const struct day_sim *sim, enum day_where where, size_t llc)
{
    double sum = 0;

    for (size_t i = 0; i < sim->live; i++) {
        const struct app *app = &sim->truth->apps.app[sim->running[i]->app];

        sum +=
            app->ipc * app->llc_mpki * (double)day_sim_cores_on(sim, sim->running[i], where, llc);
    }
    return sum;
}

double day_cost_misses(const struct day_sim *sim, enum day_where where, size_t llc, size_t other)
{
    double a = misses_on(sim, where, llc), b = misses_on(sim, where, other);

    return a * a + b * b;
}

/* ---- exchanges ---- */

/* Marks which of the cores of all jobs are kept: those of the jobs that are free, or of the others.
 */
static void mark_kept(const struct day_sim *sim, enum day_where where, bool are_free, bool *keeps,
                      bool *taken)
{
    for (size_t i = 0, k = 0; i < sim->live; i++)
        for (size_t c = 0; c < sim->running[i]->cores; c++, k++) {
            size_t core = sim->running[i]->core[where][c];

            if (day_search_is_free(sim, sim->running[i], where) != are_free)
                continue;
            keeps[k] = day_sim_is_place(sim, core) && !taken[core];
            taken[core] |= keeps[k];
        }
}

void day_search_mend(struct day_sim *sim, enum day_where where)
{
    bool taken[CPUS_MAX] = {false}, keeps[CPUS_MAX] = {false};
    size_t next = 0;

    mark_kept(sim, where, false, keeps, taken);
    mark_kept(sim, where, true, keeps, taken);
    for (size_t i = 0, k = 0; i < sim->live; i++)
        for (size_t c = 0; c < sim->running[i]->cores; c++, k++) {
            while (!keeps[k] && (!day_sim_is_place(sim, next) || taken[next]))
                next++;
            if (!keeps[k])
                sim->running[i]->core[where][c] = next++;
        }
}

void day_search_begin(struct day_sim *sim)
{
    for (size_t i = 0; i < sim->live; i++)
        memcpy(sim->running[i]->core[DAY_PLAN], sim->running[i]->core[DAY_STAND],
               sim->running[i]->cores * sizeof(size_t));
    day_search_mend(sim, DAY_PLAN);
}

/* A job, and those of another cache that have as many cores together. */
struct exchange {
    enum day_where where;
    struct day_job *job, *with[CPUS_MAX];
    size_t n;
};

/* Exchanges them; once more, and all is as before. */
static void exchange(const struct exchange *of)
{
    for (size_t w = 0, at = 0; w < of->n; w++)
        for (size_t c = 0; c < of->with[w]->cores; c++, at++) {
            size_t *core = &of->with[w]->core[of->where][c], keep = *core;

            *core = of->job->core[of->where][at];
            of->job->core[of->where][at] = keep;
        }
}

void day_search_exchange(struct day_job *a, struct day_job *b, enum day_where where)
{
    exchange(&(struct exchange){.where = where, .job = a, .with = {b}, .n = 1});
}

/* Finds jobs of the cache, from the first-th on, that have as many cores as the job. */
static bool find_partners(const struct day_sim *sim, struct exchange *of, size_t first)
{
    long llc = day_search_llc(sim, sim->running[first], of->where);
    size_t left = of->job->cores;

    of->n = 0;
    for (size_t i = first; i < sim->live && left > 0; i++) {
        struct day_job *job = sim->running[i];

        if (job != of->job && job->cores <= left && day_search_may(sim, job, of->where) &&
            day_search_llc(sim, job, of->where) == llc) {
            of->with[of->n++] = job;
            left -= job->cores;
        }
    }
    return left == 0;
}

/* Tries a job with those from the first-th on. */
static bool is_cheaper(struct day_sim *sim, struct exchange *of, size_t first, day_cost *cost)
{
    long from = day_search_llc(sim, of->job, of->where),
         to = day_search_llc(sim, sim->running[first], of->where);
    double before;

    if ((from == to && !sim->topo->split) || !day_search_may(sim, sim->running[first], of->where) ||
        !find_partners(sim, of, first))
        return false;
    before = cost(sim, of->where, (size_t)from, (size_t)to);
    exchange(of);
    if (cost(sim, of->where, (size_t)from, (size_t)to) < before * (1 - GAIN))
        return true;
    exchange(of);
    return false;
}

/* ---- places of nobody ---- */

/* Finds so many places of a cache on which nobody stands, from the first one on. Returns whether
 * there are as many. */
static bool find_free(const struct day_sim *sim, enum day_where where, size_t first, size_t cores,
                      size_t *core)
{
    bool taken[CPUS_MAX] = {false};
    size_t n = 0;

    for (size_t i = 0; i < sim->live; i++)
        for (size_t c = 0; c < sim->running[i]->cores; c++)
            taken[sim->running[i]->core[where][c]] = true;
    for (size_t c = first; c < sim->topo->cores && n < cores; c++)
        if (sim->topo->core[c].llc == sim->topo->core[first].llc && day_sim_is_place(sim, c) &&
            !taken[c])
            core[n++] = c;
    return n == cores;
}

/* Tries a job on the free places of a cache, from the first one on. */
static bool is_cheaper_there(struct day_sim *sim, struct exchange *of, size_t first, day_cost *cost)
{
    size_t llc = sim->topo->core[first].llc;
    size_t core[CPUS_MAX], size = of->job->cores * sizeof(*core), stood[CPUS_MAX];
    long from = day_search_llc(sim, of->job, of->where);
    double before;

    if ((from == (long)llc && !sim->topo->split) ||
        !find_free(sim, of->where, first, of->job->cores, core))
        return false;
    before = cost(sim, of->where, (size_t)from, llc);
    memcpy(stood, of->job->core[of->where], size);
    memcpy(of->job->core[of->where], core, size);
    if (cost(sim, of->where, (size_t)from, llc) < before * (1 - GAIN))
        return true;
    memcpy(of->job->core[of->where], stood, size);
    return false;
}

/* From which places of a cache on is looked for free ones: from the first; from each, where it
 * matters who is on a core's other threads. */
static bool is_begin(const struct topo *topo, size_t core)
{
    return topo->split || core == 0 || topo->core[core].llc != topo->core[core - 1].llc;
}

void day_search_start(struct day_sim *sim, struct day_job *job)
{
    size_t *core = job->core[DAY_PLAN], size = job->cores * sizeof(*core);
    size_t free[CPUS_MAX], home[CPUS_MAX], best[CPUS_MAX];
    double least = day_cost_all(sim, DAY_PLAN), cost;

    memcpy(home, core, size);
    memcpy(best, core, size);
    for (size_t c = 0; c < sim->topo->cores; c++) {
        if (!is_begin(sim->topo, c) || !find_free(sim, DAY_PLAN, c, job->cores, free))
            continue;
        memcpy(core, free, size);
        cost = day_cost_all(sim, DAY_PLAN);
        if (cost < least * (1 - GAIN)) {
            least = cost;
            memcpy(best, free, size);
        }
        memcpy(core, home, size);
    }
    memcpy(core, best, size);
}

/* ---- the search ---- */

/* Returns whether the job stands elsewhere than before. */
static bool improve(struct day_sim *sim, struct exchange *of, day_cost *cost)
{
    bool changed = false;

    for (size_t j = 0; j < sim->live; j++)
        changed |= is_cheaper(sim, of, j, cost);
    for (size_t c = 0; sim->plan.idle && c < sim->topo->cores; c++)
        if (is_begin(sim->topo, c))
            changed |= is_cheaper_there(sim, of, c, cost);
    return changed;
}

void day_search(struct day_sim *sim, enum day_where where, day_cost *cost)
{
    struct exchange of = {.where = where};
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < sim->live; i++) {
            of.job = sim->running[i];
            if (day_search_may(sim, of.job, where))
                changed |= improve(sim, &of, cost);
        }
    }
}
