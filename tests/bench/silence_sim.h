/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_sim - how much longer a bulk-synchronous program takes on nodes that have bursts.
 *
 * An iteration ends on all nodes when it has ended on the slowest, and then the next one begins. A
 * node is at work for the iteration's length, and longer by each burst that begins before it is
 * ready, since the program has all cores; bursts of several threads are added, as if they met on
 * one core. A node that waits for others loses nothing, unless its burst outlasts them. */
#ifndef BERTH_BENCH_SILENCE_SIM_H
#define BERTH_BENCH_SILENCE_SIM_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/bench/silence_train.h"

struct silence_program {
    size_t nodes;       /* 1 at least */
    double iteration_s; /* above 0 */
    bool together;      /* the nodes have their bursts at the same instants; else at any */
    double skew_s;      /* together: so far a node's clock is behind, at the most */
    unsigned seed;
};

/* How many times as long the program takes as without bursts: it is long enough to meet all bursts
 * of the train, or some millions. Each node has the whole train, over and over. 1 where there are
 * none. */
double silence_longer(const struct silence_train *train, const struct silence_program *program);

#endif
