/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_swap - the optimum when jobs have sizes: a search that knows the truth.
 *
 * It begins with the best of before, mended, or with Slurm's cores if the node does more there. As
 * long as the node gains by it, what a job has on one cache changes places with as many cores of
 * others on another cache; of a job of ranks one core may go alone, too. A job of one task never
 * comes to more caches than it is on: its threads share data, of which the truth knows nothing. Nor
 * does one that is not free (enum day_will) leave its cores. So what Slurm has split is gathered
 * where that pays, and what is wider than a cache moves by its parts. It is a best found, not
 * proven: partition and matching (day_best.c) want jobs that fit a cache. */
#ifndef BERTH_BENCH_DAY_SWAP_H
#define BERTH_BENCH_DAY_SWAP_H

#include "tests/bench/day_sim.h"

/* Betters DAY_BEST of all running jobs; they have cores there that Slurm gave somebody. 0, or -1
 * and err. */
int day_swap_find(struct day_sim *sim, struct berth_error *err);

#endif
