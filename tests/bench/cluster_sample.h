/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_sample - how far what stands in for berth inside a node agrees with the real berthd: the
 * jobs that some nodes had are played again, a node after the other, by tests/bench/day. */
#ifndef BERTH_BENCH_CLUSTER_SAMPLE_H
#define BERTH_BENCH_CLUSTER_SAMPLE_H

#include "tests/bench/cluster_sim.h"

struct cluster_sample {
    size_t nodes; /* drawn from those that had jobs beside each other */
    double days;  /* of each */
    double window_s;
    const char *topology;
    /* What came of it: seconds more than alone, all nodes together. */
    double jobs, slurm_s, stand_in_s, berth_s, best_s;
};

/* Plays them. 0, or -1 and err. */
int cluster_sample_play(struct cluster_sample *sample, const struct cluster_sim *sim,
                        struct berth_error *err);

#endif
