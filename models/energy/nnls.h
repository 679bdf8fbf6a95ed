/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nnls - least squares with weights that are not negative: Lawson and Hanson, Solving Least Squares
 * Problems (1974), chapter 23, algorithm NNLS, on the normal equations (Bro and De Jong, A fast
 * non-negativity-constrained least squares algorithm, 1997); and the same on line.
 *
 * For small dense problems: the condition of the matrix is squared, so columns should be in units
 * that make them about equal. Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_ENERGY_NNLS_H
#define BERTH_MODELS_ENERGY_NNLS_H

#include <stdbool.h>
#include <stddef.h>

#define NNLS_MAX 8 /* unknowns */

/* Fills x[n] with what minimises |A x - b| over x >= 0, by G = A'A (n rows of NNLS_MAX, symmetric)
 * and h = A'b. Returns 0; -1: n is 0 or above NNLS_MAX, or a number is not finite. Of columns that
 * depend on each other some get weight 0. */
int nnls_gram(size_t n, const double g[][NNLS_MAX], const double *h, double *x);

/* A fit on line: y = sum of w[i] x[i], samples arriving one by one. What a sample tells replaces
 * what was known along its own direction only (Cao and Schwartz, A directional forgetting algorithm
 * based on the decomposition of the information matrix, 2000): a load that stays as it is for hours
 * does not make forget what an idle machine has shown. */
struct nnls_fit {
    size_t n;
    double keep; /* of old samples, in the direction of a new one */
    double samples;
    double g[NNLS_MAX][NNLS_MAX], h[NNLS_MAX], yy;
};

/* Begins with nothing seen. Samples in one direction weigh as `memory` (> 1) of them at most. */
void nnls_fit_init(struct nnls_fit *fit, size_t n, double memory);

/* Takes in the sample y of columns x[n]; one with a number that is not finite changes nothing. */
void nnls_fit_add(struct nnls_fit *fit, const double *x, double y);

/* Fills w[n] with the weights of the columns in `columns` (bit i: column i; the others get 0).
 * Returns false where they are not well determined. They are when there are at least 3 samples more
 * than columns, no column can nearly be had from the others (variance inflation below 400), and the
 * standard error of each column's mean part of y is below `within` (say 0.05) of the mean y. */
bool nnls_fit_weights(const struct nnls_fit *fit, unsigned columns, double within, double *w);

/* Returns the root mean square of column i over the samples that are remembered, 0 where there are
 * none; column 0 is 1. */
double nnls_fit_size(const struct nnls_fit *fit, size_t i);

#endif
