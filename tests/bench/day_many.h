/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_many - the simulated node when jobs have sizes: what Slurm gives them, and what they suffer
 * with many on a cache. */
#ifndef BERTH_BENCH_DAY_MANY_H
#define BERTH_BENCH_DAY_MANY_H

#include "tests/bench/day_sim.h"

/* Draws the jobs' sizes, by lots of their own: the same jobs come at the same times as without.
 * Their lengths change by one factor, so that the load stays what the plan has. */
void day_many_draw(struct day_sim *sim, const struct day_plan *plan);

/* Gives a job that there is room for its cores, and has it stand there. */
void day_many_give(struct day_sim *sim, struct day_job *job);

/* Sets what all running jobs suffer if they stand there. */
void day_many_set(struct day_sim *sim, enum day_where where);

/* Returns it of one. */
double day_many_slowdown(const struct day_sim *sim, const struct day_job *job,
                         enum day_where where);

#endif
