/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_free - what costs nothing: placers that need no daemon, for the same table.
 *
 * By lot: who starts exchanges his cores with a job of his size by lot, himself among them. Miss
 * rate: at each start and end, jobs are exchanged as long as the caches' misses become more alike
 * (least squares); the placer knows each program's misses alone beforehand. Both stay on the cores
 * that Slurm has given somebody, as berth does, and jobs that are not free stay at home. The
 * emptiest cache: who starts goes where most cores are idle, whoever has them, and stays there; it
 * knows nothing. At the start: the same with the truth known, where idle cores are places; it is
 * what can be had where nobody may be moved who runs. */
#ifndef BERTH_BENCH_DAY_FREE_H
#define BERTH_BENCH_DAY_FREE_H

#include "tests/bench/day_sim.h"

#define DAY_FREE_PLACERS 4

extern const struct day_placer day_free_placer[DAY_FREE_PLACERS];

#endif
