/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_threads - see day_threads.h */
#include "tests/bench/day_threads.h"

#include <math.h>
#include <stdlib.h>

#include "tests/bench/day_random.h"

#define VICTIM 0.81
#define VICTIM_EXPONENT 0.7
#define CULPRIT_LEAST 0.79
#define CULPRIT_RANGE 0.42

int day_threads_draw(struct day_truth *truth, uint64_t seed, struct berth_error *err)
{
    uint64_t lot = day_random_seed(seed, 6, 0);
    size_t n = truth->apps.n;
    double *culprit = calloc(n, sizeof(*culprit));

    truth->sibling = calloc(n * n, sizeof(*truth->sibling));
    if (!truth->sibling || !culprit) {
        free(culprit);
        return berth_no_memory(err);
    }
    for (size_t j = 0; j < n; j++)
        culprit[j] = CULPRIT_LEAST + CULPRIT_RANGE * day_random(&lot);
    for (size_t i = 0; i < n; i++) {
        double victim = VICTIM * pow(day_random(&lot), VICTIM_EXPONENT);

        for (size_t j = 0; j < n; j++)
            truth->sibling[i * n + j] = fmax(victim * culprit[j], day_truth_pair(truth, i, j));
    }
    free(culprit);
    return 0;
}

/* What the job has more, for one of its threads, because another job, or itself, is on the core. */
static double more_by(const struct day_sim *sim, const struct day_job *job,
                      const struct day_job *other)
{
    double shared = sim->truth->sibling[job->app * sim->truth->apps.n + other->app];

    return other == job
               ? shared
               : shared - day_truth_pair(sim->truth, job->app, other->app) / (double)other->cores;
}

/* Returns the first thread of a thread's core. */
static size_t first_of(const struct topo *topo, size_t thread)
{
    while (thread > 0 && topo->core[thread - 1].whole == topo->core[thread].whole)
        thread--;
    return thread;
}

static bool shares(const struct topo *topo, size_t a, size_t b)
{
    return b < topo->cores && topo->core[a].whole == topo->core[b].whole;
}

/* The same for all who are on the other threads of its core. */
static double more_on(const struct day_sim *sim, const struct day_job *job,
                      const struct day_job *const *owner, size_t thread)
{
    double sum = 0;

    for (size_t i = first_of(sim->topo, thread); shares(sim->topo, thread, i); i++)
        sum += i != thread && owner[i] ? more_by(sim, job, owner[i]) : 0;
    return sum;
}

double day_threads_slowdown(const struct day_sim *sim, const struct day_job *job,
                            enum day_where where)
{
    const struct day_job *owner[CPUS_MAX] = {NULL};
    double sum = 0;

    if (!sim->truth->sibling)
        return 0;
    for (size_t i = 0; i < sim->live; i++)
        for (size_t c = 0; c < sim->running[i]->cores; c++)
            owner[sim->running[i]->core[where][c]] = sim->running[i];
    for (size_t c = 0; c < job->cores; c++)
        sum += more_on(sim, job, owner, job->core[where][c]);
    return sum / (double)job->cores;
}

bool day_threads_is_lone(const struct topo *topo, const bool *taken, size_t thread)
{
    for (size_t i = first_of(topo, thread); shares(topo, thread, i); i++)
        if (i != thread && taken[i])
            return false;
    return true;
}
