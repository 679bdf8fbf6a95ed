/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_payer - a decider that knows the truth and pays for its moves.
 *
 * After each start and end it knows what each running job suffers beside each other, where their
 * memory is, and for how long jobs of that age run on (by the lengths' distribution, not by their
 * lots). It exchanges jobs between caches, one for one of its size or for some smaller ones, as
 * long as what they lose together becomes less: to their neighbours, and by their moves: caches to
 * be filled again, pages that are far, or follow. Pages follow where that costs less than to leave
 * them. A new job has neither: its cores are chosen for nothing. Like all others, it uses only
 * cores that Slurm has given somebody; who is not free (enum day_will), or spans caches, stays.
 *
 * With sizes ranks move one by one, and so does what any other job has on each cache: it never
 * comes to more caches. The memory of such a part is priced as if all of the job were there, by its
 * cores, and follows always.
 *
 * What an arrangement saves counts for a tenth of the jobs' mean length, for the next start or end
 * makes another one (LASTS; tried were .02, .05, .1, .2, .3 and 1, and until one of the two
 * neighbours is expected to end, on nas-grvingt with 0, 2 and 16 GiB).
 *
 * It is a bound of what can be had where moves cost something; the optimum (day_best.h) has them
 * for nothing. Neither is the best that there is: both decide moment by moment, and this one
 * searches by exchanges alone, beginning once with where the jobs stand and once with the optimum.
 */
#ifndef BERTH_BENCH_DAY_PAYER_H
#define BERTH_BENCH_DAY_PAYER_H

#include "tests/bench/day_sim.h"

extern const struct day_placer day_payer;

/* The same, but it forgets that jobs have memory, which follows them whatever that costs. */
extern const struct day_placer day_forgetful;

/* Returns how many seconds more a job of a log-normal length (sigma 1) with that mean is expected
 * to run when it has run for so many. */
double day_payer_rest_s(double mean_s, double age_s);

#endif
