/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_threads - hardware threads as places: what two programs on one core truly cost each other.
 *
 * No table of pairs on one core may be given away with the sources, so each seed draws one with the
 * figures of 361 pairs that were measured: program i takes v_i c_j longer beside j, where v_i =
 * .81 u^.7 (0 to .81; the victim explains most) and c_j = .79 to 1.21 (of the culprit): 1 to 1.98
 * times as long, 1.5 in the median. Both are drawn by lot (u even in 0 to 1): no counter tells
 * beforehand who bears a sibling well. It is never less than what the two cost each other on one
 * cache, of which it has that part, too.
 *
 * A job has as much of it as it has threads whose core somebody else, or another thread of its own,
 * is on. */
#ifndef BERTH_BENCH_DAY_THREADS_H
#define BERTH_BENCH_DAY_THREADS_H

#include "tests/bench/day_sim.h"

/* Draws the truth's `sibling`. 0, or -1 and err: no memory. */
int day_threads_draw(struct day_truth *truth, uint64_t seed, struct berth_error *err);

/* Returns by how much more, of its time alone, a job is slowed on shared cores than its caches'
 * neighbours say; 0 where cores are whole. */
double day_threads_slowdown(const struct day_sim *sim, const struct day_job *job,
                            enum day_where where);

/* Is nobody on the other threads of the thread's core? taken: [topo->cores]. */
bool day_threads_is_lone(const struct topo *topo, const bool *taken, size_t thread);

#endif
