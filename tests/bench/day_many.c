/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_many - see day_many.h */
#include "tests/bench/day_many.h"

#include <math.h>

static double mean_cores(const struct day_sim *sim)
{
    double cores = 0;

    for (size_t i = 0; i < sim->n; i++)
        cores += (double)sim->job[i].cores / (double)sim->n;
    return cores;
}

void day_many_draw(struct day_sim *sim, const struct day_plan *plan)
{
    uint64_t seed = plan->seed * 1000003 + 7;
    double before = mean_cores(sim), longer;

    for (size_t i = 0; i < sim->n; i++) {
        struct day_job *job = &sim->job[i];

        day_sizes_draw(sim->plan.sizes, &seed, sim->topo->cores, &job->tasks, &job->width);
        job->cores = job->tasks * job->width;
    }
    longer = before / mean_cores(sim);
    for (size_t i = 0; i < sim->n; i++) {
        struct day_job *job = &sim->job[i];

        job->work_s = fmax(job->work_s * longer, 1);
        job->left_s = job->work_s;
    }
}

void day_many_give(struct day_sim *sim, struct day_job *job)
{
    bool is_free[CPUS_MAX], has[CPUS_MAX] = {false};

    for (size_t c = 0; c < sim->topo->cores; c++)
        is_free[c] = !sim->slurm[c];
    if (day_slurm_give(sim->topo, sim->plan.socket, is_free, job->tasks, job->width, job->given) <
        0)
        return; /* whoever calls has counted them */
    for (size_t c = 0; c < job->cores; c++) {
        has[job->given[c]] = true;
        sim->slurm[job->given[c]] = job;
    }
    for (size_t c = 0, n = 0; n < job->cores; c++)
        for (size_t w = 0; has[c] && w < DAY_PLACES; w++) {
            job->core[w][n] = c;
            n += w + 1 == DAY_PLACES;
        }
}

/* Who is on a cache: of which running job each part is. Returns how many. */
static size_t parts_on(const struct day_sim *sim, enum day_where where, size_t llc,
                       struct day_part *part, size_t *owner)
{
    size_t n = 0;

    for (size_t i = 0; i < sim->live; i++) {
        const struct day_job *job = sim->running[i];
        size_t cores = 0;

        for (size_t c = 0; c < job->cores; c++)
            cores += sim->topo->core[job->core[where][c]].llc == llc;
        if (cores == 0)
            continue;
        part[n] = (struct day_part){job->app, cores};
        owner[n++] = i;
    }
    return n;
}

void day_many_set(struct day_sim *sim, enum day_where where)
{
    struct day_part part[CPUS_MAX];
    size_t owner[CPUS_MAX];

    for (size_t i = 0; i < sim->live; i++)
        sim->running[i]->slowdown[where] = 0;
    for (size_t llc = 0; llc < sim->topo->llcs; llc++) {
        size_t n = parts_on(sim, where, llc, part, owner);

        for (size_t i = 0; i < n; i++) {
            struct day_job *job = sim->running[owner[i]];

            job->slowdown[where] += day_beside_on(&sim->beside, part, n, i) *
                                    (double)part[i].cores / (double)job->cores;
        }
    }
}

double day_many_slowdown(const struct day_sim *sim, const struct day_job *job, enum day_where where)
{
    struct day_part part[CPUS_MAX];
    size_t owner[CPUS_MAX];
    double sum = 0;

    for (size_t llc = 0; llc < sim->topo->llcs; llc++) {
        size_t n = parts_on(sim, where, llc, part, owner);

        for (size_t i = 0; i < n; i++)
            if (sim->running[owner[i]] == job)
                sum += day_beside_on(&sim->beside, part, n, i) * (double)part[i].cores;
    }
    return sum / (double)job->cores;
}
