/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_guess - what contend makes of noisy counters: a matrix of pairs in place of the truth's.
 *
 * Each program is there in CLUSTER_KINDS ways, each counted with its own factors of noise (job,
 * phase and window at once, of which no mean over time is taken: berthd's would be better); a job
 * is counted in one of them as long as it runs.
 *
 * berthd also learns from what happens, which is not done here: the part `learned` of each pair is
 * the truth's, the rest contend's. It is chosen by what the real berthd avoids on nodes that are
 * played again (cluster_sample.h). */
#ifndef BERTH_BENCH_CLUSTER_GUESS_H
#define BERTH_BENCH_CLUSTER_GUESS_H

#include "tests/bench/day_beside.h"
#include "tests/bench/day_noise.h"

#define CLUSTER_KINDS 6

/* Fills guess with apps.n * CLUSTER_KINDS programs. 0, or -1 and err. Free with cluster_guess_free.
 */
int cluster_guess_open(struct day_truth *guess, const struct day_truth *truth,
                       const struct day_noise *noise, uint64_t seed, double learned,
                       struct berth_error *err);
void cluster_guess_free(struct day_truth *guess);

#endif
