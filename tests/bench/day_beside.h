/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_beside - the truth for jobs of any size, and for more than two on a cache.
 *
 * What is measured is that i on c_i cores takes 1 + d_ij times as long beside j on c_j cores. On a
 * cache where i has n_i cores and each other job j has n_j, it takes there
 *
 *     min(product over j of (1 + d_ij)^(n_j / c_j), share)       times as long as alone:
 *
 * a program presses by core, and each neighbour takes its part of what the others leave. i itself
 * counts among them with the cores that it has beyond c_i. Nobody comes out worse than `share`,
 * N / min(n_i, c_i) with N cores in use on the cache: who had all that the cache has to himself has
 * now his cores' part of it; nor better than that beside the worst neighbour that was measured. It
 * goes on by the mean over its cores, as without sizes. There is no constant in it.
 *
 * It was compared with what programs do on 1 to K cores of a memory domain of K, d taken from the
 * step from K/2 to K cores, all other steps from m to n cores foretold by it. Mean of the error's
 * size / its 90th percentile / bias; and the same from 1 core to all K. Errors are logarithmic, 100
 * times the logarithm of the time foretold by the one measured. They are in-sample: the form was
 * chosen by these same curves.
 *
 *     form                          129 stencils         80 STREAM-like       7 SPEChpc
 *     sum of d_ij n_j / c_j          7.8 / 16.0 / -0.4   12.2 / 28.9 / -1.3   10.5 / 33.2 / -7.0
 *     this one                       6.2 / 13.7 / -1.0   10.8 / 25.8 / -2.5   10.1 / 31.5 / -7.3
 *     share (1 - exp(-sum / share)) 10.7 / 21.7 / -7.4   16.0 / 35.1 / -10.0  12.2 / 35.7 / -9.6
 *     soft roof, p = 2.5             9.1 / 22.2 / 4.4    15.5 / 41.9 / 13.1    9.2 / 29.1 / -7.0
 *     soft roof, p = 3.5             6.0 / 15.0 / -2.0    9.1 / 23.5 / 4.4    12.2 / 34.9 / -10.0
 *     1 to K: sum                   23.2 / 42.9 / -21.4  29.3 / 61.8 / -22.7  25.5 / 53.5 / -25.4
 *     1 to K: this one              15.1 / 30.7 / -4.4   19.4 / 48.2 / -2.3   18.8 / 53.5 / -17.7
 *
 * (INSPECT on 8 machines, kerncraft's on 16, PMBS23 on Ice Lake. Roofs of other exponents from 1.5
 * to 4 and the forms without a cap were tried, too; a roof whose p is fitted to one set fails on
 * another.) A server beside 2, 4, 8 copies of lbm loses 14, 42, 65 % of its speed: from 4 copies
 * this says 24, 42, 66, the sum 27, 42, 59; beside mcf 4, 11, 29 % are 6, 11, 21 and 6, 11, 20. All
 * of these programs want bandwidth. For those that want the cache nothing with more than two was
 * found.
 *
 * Left out: what a program gains by having fewer than c_i of its own cores on a cache, and ranks
 * that wait for the slowest of them. */
#ifndef BERTH_BENCH_DAY_BESIDE_H
#define BERTH_BENCH_DAY_BESIDE_H

#include <stddef.h>

#include "tests/bench/day_truth.h"

/* The logarithms of 1 + d_ij, for who asks often. */
struct day_beside {
    const struct day_truth *truth;
    double *log; /* [n][n] */
};

/* 0, or -1 and err. Free with day_beside_free. */
int day_beside_open(struct day_beside *beside, const struct day_truth *truth,
                    struct berth_error *err);
void day_beside_free(struct day_beside *beside);

/* What somebody has on a cache. */
struct day_part {
    size_t app, cores;
};

/* Returns what the i-th of the n that are on a cache suffers there: a fraction of its time alone.
 */
double day_beside_on(const struct day_beside *beside, const struct day_part *part, size_t n,
                     size_t i);

#endif
