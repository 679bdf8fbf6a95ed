/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_node - a simulated node for tests of tests/bench/day, small enough that what comes of it can
 * be worked out by hand: two programs, and some jobs of them. */
#ifndef BERTH_TESTS_BENCH_DAY_NODE_H
#define BERTH_TESTS_BENCH_DAY_NODE_H

#include "tests/bench/day_sim.h"

extern const struct day_placer day_node_slurm; /* Slurm alone */

struct day_node {
    struct day_truth truth;
    struct day_sim sim;
    struct topo *topo;
};

/* A node (hwloc synthetic; each hardware thread is a place) whose memory has the bandwidth, and n jobs of the programs app[n] that
 * arrive a second apart, with 100 seconds of work each. apps[2]: the programs; pairs[4]: what 0
 * suffers beside 0 and 1, then 1; both are kept. Fails the test where that cannot be. */
void day_node_open(struct day_node *node, const char *topology, double gbps, struct app *apps,
                   double *pairs, size_t n, const size_t *app);
void day_node_close(struct day_node *node);

/* Lets the placer's days go by, or fails the test. */
void day_node_simulate(struct day_node *node, const struct day_placer *placer);

#endif
