/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_detours - what a program that fills all CPUs notices: a thread on each reads the clock
 * without a pause, and where two readings are far apart somebody else had its CPU. */
#ifndef BERTH_BENCH_SILENCE_DETOURS_H
#define BERTH_BENCH_SILENCE_DETOURS_H

#include <stddef.h>

#include "tests/bench/silence_train.h"

#define SILENCE_DETOUR_S 1e-4
#define SILENCE_DETOUR_LONG_S 2e-4

/* Of all CPUs together; those of berthd are part of all. NAN: there is none. */
struct silence_detours {
    double seconds; /* 0: was not asked for */
    size_t cpus, n, longs;
    double share, worst_s; /* of the CPUs' time */
    size_t berthd_n, berthd_longs;
    double berthd_share, berthd_worst_s;
};

struct silence_loop;

/* Begins; all CPUs that this program may use are busy until silence_detours_stop(). */
struct silence_loop *silence_detours_begin(void);

/* Has them end, and waits until they have. */
void silence_detours_stop(struct silence_loop *loop);

/* Fills in what was seen: a detour is berthd's as long as a burst of the train (NULL: there is no
 * berthd) was under way on that CPU. The loop is gone then. */
void silence_detours_tell(struct silence_loop *loop, const struct silence_train *train,
                          struct silence_detours *detours);

#endif
