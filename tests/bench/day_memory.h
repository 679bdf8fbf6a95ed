/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_memory - where the jobs' memory is: it is allotted where a job first runs, costs where the
 * job stands far from it, and follows as whoever places the jobs orders it.
 *
 * How much a job has is log-normal (sigma 1.2) about the plan's median, and of every job the same
 * for all placers. A job begins to run with all of it, divided over memory nodes as its cores are.
 *
 * What far memory costs. A program waits for memory for some part of its time alone:
 *
 *     waits = misses a core and second * DAY_NEAR_NS / DAY_OVERLAP, 1 at most
 *
 * Far pages have it wait `ratio` times as long, so it takes longer by
 *
 *     waits * (sum over the far pages' parts of ratio * crowded - 1)
 *
 * of its time alone. That comes on top of what its neighbours cost. A program that does not miss
 * pays nothing; one that only waits pays 40 %.
 *
 *   DAY_NEAR_NS   84: a load from the own memory node of an EPYC 7763, one program on the node
 *                 (Numa-Mem-Bench's LUMI-C runs, median; up to 220 where all cores load).
 *   DAY_OVERLAP   4: how many misses a core has under way. 84 ns and 4 are 3.0 GB/s a core; a core
 *                 that read its own node with seven others beside it had 2.0 and 1.7 GB/s (NES,
 *                 machines penguin and batman), and eight STREAM-like programs of the NAS suite
 *                 draw up to 2.8 by their misses.
 *   ratio         DAY_FAR_PACKAGE 1.18 to another node of the package, DAY_FAR_ELSEWHERE 1.4 to
 *                 another package: batman has eight nodes, eight threads on the first one read
 *                 the nearest other node 1.18 times as slowly as their own, the farthest 1.62
 *                 times, all seven on average 1.38 times.
 *   crowded       where more is drawn from a memory node to others than its links let through, the
 *                 quotient of both; else 1. The links let through DAY_LINK_PART of the node's own
 *                 bandwidth: penguin's eight threads drew 16.4 GB/s from their own node and
 *                 6.2 to 7.9 from others. Pages under way are drawn, too.
 *
 * Pages follow one job after another, as berthd's mover does it, at the rate of the order. While
 * they do, the job loses the time that a core copies them (DAY_COPY_BYTES_S, as
 * models/online/page_move.h). Left out: whether the node has room for them, memory that a program
 * allots or frees later, pages that several jobs share, the kernel's own NUMA balancing. */
#ifndef BERTH_BENCH_DAY_MEMORY_H
#define BERTH_BENCH_DAY_MEMORY_H

#include "tests/bench/day_sim.h"

#define DAY_MEMORY_SIGMA 1.2
#define DAY_NEAR_NS 84.0
#define DAY_OVERLAP 4.0
#define DAY_FAR_PACKAGE 1.18
#define DAY_FAR_ELSEWHERE 1.40
#define DAY_LINK_PART 0.48
#define DAY_COPY_BYTES_S 1e9
#define DAY_FOLLOW_BYTES_S 1e9 /* memory_rate of berth.conf, unless an order says otherwise */

/* What the kernel of such a machine says of its nodes, in tenths: an Opteron's, as batman is one.
 */
#define DAY_SLIT_PACKAGE 16
#define DAY_SLIT_ELSEWHERE 22

/* Gives the jobs of the simulation memory: sim->memory. 0, or -1 and err. */
int day_memory_open(struct day_sim *sim, double median_gib, uint64_t seed, struct berth_error *err);
void day_memory_close(struct day_sim *sim);

/* All that follows does nothing, or returns 0, where sim->memory is NULL. */

/* Nobody has run. */
void day_memory_rewind(struct day_sim *sim);

/* The job stands elsewhere: its pages follow it. */
void day_memory_stands(struct day_sim *sim, const struct day_job *job);

/* The pages of a job follow it at that rate, bytes per second; 0: they stay where they are. */
void day_memory_order(struct day_sim *sim, const struct day_job *job, double rate);

/* Time goes on by so much: jobs that have not allotted and do not only begin do it, and pages move.
 */
void day_memory_advance(struct day_sim *sim, double seconds);

/* Returns when costs change next. */
int64_t day_memory_next(const struct day_sim *sim);

/* Adds to DAY_STAND's slowdown of all running jobs what their memory costs now: job->far. */
void day_memory_slow(struct day_sim *sim);

/* Returns what the job would suffer on these cores with its pages as they are and empty links, and
 * how many bytes would have to follow it there. Nothing for a job that has not run. */
double day_memory_far(const struct day_sim *sim, const struct day_job *job, const size_t *core);
double day_memory_behind(const struct day_sim *sim, const struct day_job *job, const size_t *core);

/* Returns how long a job's pages wait, or would, until those that were ordered before have
 * followed.
 */
double day_memory_waiting_s(const struct day_sim *sim, const struct day_job *job);

/* Returns the bytes that a job has on each memory node, as topo->node; NULL: it has not run. */
const double *day_memory_bytes(const struct day_sim *sim, const struct day_job *job);

/* Returns the part of its time for which a program waits for memory. */
double day_memory_waits(const struct day_truth *truth, size_t app);

/* Returns how many times as long an access takes from one memory node to another. */
double day_memory_ratio(const struct topo *topo, size_t from, size_t to);

#endif
