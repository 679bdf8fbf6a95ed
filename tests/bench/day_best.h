/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_best - the optimum, which knows the truth: after each start and end it puts the running jobs
 * where the node loses least work, on the cores that Slurm has given somebody (berth may use no
 * others). With sizes: day_swap.h. Else caches of two cores: exact. Larger ones: the best that
 * models/partition finds; where some jobs have to stay where they are, the best that exchanges find
 * (day_search.h). It does not know how long jobs will run. */
#ifndef BERTH_BENCH_DAY_BEST_H
#define BERTH_BENCH_DAY_BEST_H

#include "tests/bench/day_sim.h"

/* Finds the best cores of all running jobs, beginning with those that they have: DAY_BEST. 0, or -1
 * and err. */
int day_best_find(struct day_sim *sim, struct berth_error *err);

/* Puts all jobs there. */
extern const struct day_placer day_best;

#endif
