/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_search - a better place for some of the running jobs: no exchange of a job with one, or with
 * some smaller ones, of another cache makes it cheaper any more, nor does a cache's free places,
 * where idle cores are places. Where hardware threads are places, also within a cache. Jobs that
 * are not free (enum day_will), or on more than one cache, stay where they are. */
#ifndef BERTH_BENCH_DAY_SEARCH_H
#define BERTH_BENCH_DAY_SEARCH_H

#include "tests/bench/day_sim.h"

/* Returns what jobs with cores on these two caches cost, if the jobs stand there. */
typedef double day_cost(const struct day_sim *sim, enum day_where where, size_t llc, size_t other);

/* Costs: the work that such jobs lose, in cores; the squares of the caches' misses a second, as the
 * programs have them alone. */
double day_cost_work(const struct day_sim *sim, enum day_where where, size_t llc, size_t other);
double day_cost_misses(const struct day_sim *sim, enum day_where where, size_t llc, size_t other);

/* Returns the work that all lose, in cores. */
double day_cost_all(const struct day_sim *sim, enum day_where where);

/* Exchanges jobs as long as that is cheaper; jobs[where] are the result. */
void day_search(struct day_sim *sim, enum day_where where, day_cost *cost);

/* Jobs that are not free keep their cores, which are at home. The others keep theirs as far as
 * these are given, and no older job's; they get what is left for the others. */
void day_search_mend(struct day_sim *sim, enum day_where where);

/* Begins a plan, DAY_PLAN: all as they stand, mended. */
void day_search_begin(struct day_sim *sim);

/* Plans for one job what costs all least: its cores, or free places of a cache. */
void day_search_start(struct day_sim *sim, struct day_job *job);

/* Exchanges one job with one of its size. */
void day_search_exchange(struct day_job *a, struct day_job *b, enum day_where where);

/* Returns the cache of all of a job's cores, or -1: there are several. */
long day_search_llc(const struct day_sim *sim, const struct day_job *job, enum day_where where);

/* Returns whether the job may be moved, there. The optimum with idle cores is that of all who opted
 * in: those who stay where they began may begin there. */
bool day_search_is_free(const struct day_sim *sim, const struct day_job *job, enum day_where where);

/* Returns whether it may be exchanged. */
bool day_search_may(const struct day_sim *sim, const struct day_job *job, enum day_where where);

#endif
