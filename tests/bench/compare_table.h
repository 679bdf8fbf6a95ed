/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compare_table - what tests/bench/compare has measured: the samples of each figure, on two trees
 * in turns, and whether one of them is worse by more than chance. */
#ifndef BERTH_BENCH_COMPARE_TABLE_H
#define BERTH_BENCH_COMPARE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define COMPARE_ROUNDS_MAX 64

enum compare_side { COMPARE_REV, COMPARE_HEAD, COMPARE_SIDES };

struct compare_samples {
    double *value;
    size_t n, room;
};

struct compare_figure {
    char key[48], label[64], unit[8];
    bool more;  /* is better */
    bool exact; /* the same on every run: chance has no part in it */
    struct compare_samples of[COMPARE_SIDES][COMPARE_ROUNDS_MAX];
    char reason[COMPARE_SIDES][256]; /* why there are none */
};

/* A quantile of all samples of both sides. NAN: not measured. */
struct compare_verdict {
    double value[COMPARE_SIDES], ratio; /* HEAD's by REV's */
    double p; /* how likely rounds as bad are by chance; NAN: the figure is exact */
    bool worse;
};

#define COMPARE_TOLERANCE 1.1
#define COMPARE_P 0.01
#define COMPARE_P99_LEAST 100 /* samples of a side, for its 99th percentile */

/* Adds a sample. Exits where there is no memory. */
void compare_add(struct compare_samples *samples, double value);

/* Returns how many samples a side has. */
size_t compare_count(const struct compare_figure *figure, enum compare_side side);

/* Compares a quantile (0.5: the median) of all samples of the rounds that both sides have, and
 * sorts those of each round.
 *
 * p is that of the exact signed-rank test of the rounds (Wilcoxon 1945), one-sided: of each
 * round's quantile of HEAD by that of REV. It needs seven rounds to fall below COMPARE_P. A ratio
 * beyond COMPARE_TOLERANCE is worse with p < COMPARE_P, or where the figure is exact. */
struct compare_verdict compare_quantile(struct compare_figure *figure, double quantile);

#endif
