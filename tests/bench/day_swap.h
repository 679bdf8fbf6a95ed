/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_swap - better places for jobs with sizes: the search of day_exchange.h on a simulated node.
 *
 * It begins with the places of before, mended, or with Slurm's cores if the node does more there.
 * Free places are those that Slurm has given nobody, where idle cores are places. A job that is not
 * free (enum day_will) does not leave its cores. So what Slurm has split is gathered where that
 * pays, and what is wider than a cache moves by its parts. By the truth it is the optimum when jobs
 * have sizes: partition and matching (day_best.c) want jobs that fit a cache. */
#ifndef BERTH_BENCH_DAY_SWAP_H
#define BERTH_BENCH_DAY_SWAP_H

#include "tests/bench/day_exchange.h"
#include "tests/bench/day_sim.h"

/* Betters `where` of all running jobs, which have places there: DAY_BEST or DAY_PLAN. `beside` is
 * what is taken for the truth, and app[live] the number of each running job's program there; NULL:
 * its own. 0, or -1 and err. */
int day_swap_find(struct day_sim *sim, enum day_where where, const struct day_beside *beside,
                  const size_t *app, struct berth_error *err);

#endif
