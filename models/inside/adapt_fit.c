/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adapt_fit - least squares for the coefficients of PAAP and PACC; see adapt.h
 *
 * Predictors are taken from their means and in units of their spread, so that what is solved is a
 * matrix of correlations, whose pivots say how much of a predictor the others do not have. */
#include "models/inside/adapt.h"

#include <math.h>
#include <string.h>

#define MOST (ADAPT_PAAP - 1)
#define INDEPENDENT 1e-6 /* of a predictor's squares must be its own */

struct system {
    size_t k;
    double mean[MOST], spread[MOST], mean_y;
    double left[MOST][MOST], right[MOST];
};

/* Means, and the square roots of the sums of squares. Returns whether all of them vary. */
static bool measure(struct system *system, size_t n, const double *x, const double *y)
{
    size_t k = system->k;

    for (size_t i = 0; i < n; i++) {
        system->mean_y += y[i] / (double)n;
        for (size_t j = 0; j < k; j++)
            system->mean[j] += x[i * k + j] / (double)n;
    }
    for (size_t j = 0; j < k; j++) {
        double squares = 0;

        for (size_t i = 0; i < n; i++)
            squares += pow(x[i * k + j] - system->mean[j], 2);
        system->spread[j] = sqrt(squares);
        if (!(system->spread[j] > 1e-9 * (fabs(system->mean[j]) + 1e-9) * sqrt((double)n)))
            return false;
    }
    return true;
}

static void correlate(struct system *system, size_t n, const double *x, const double *y)
{
    size_t k = system->k;

    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < k; a++) {
            double off = (x[i * k + a] - system->mean[a]) / system->spread[a];

            system->right[a] += off * (y[i] - system->mean_y);
            for (size_t b = 0; b < k; b++)
                system->left[a][b] += off * (x[i * k + b] - system->mean[b]) / system->spread[b];
        }
}

/* Solves it by elimination: the matrix is positive, so its pivots stand on the diagonal. Returns
 * whether each predictor has something of its own. */
static bool eliminate(struct system *system)
{
    size_t k = system->k;

    for (size_t p = 0; p < k; p++) {
        if (!(system->left[p][p] > INDEPENDENT))
            return false;
        for (size_t row = 0; row < k; row++) {
            double part = row == p ? 0 : system->left[row][p] / system->left[p][p];

            for (size_t column = 0; column < k; column++)
                system->left[row][column] -= part * system->left[p][column];
            system->right[row] -= part * system->right[p];
        }
    }
    return true;
}

static void judge(struct adapt_fit *fit, size_t n, size_t k, const double *x, const double *y,
                  double mean)
{
    double off = 0, all = 0, percent = 0;

    for (size_t i = 0; i < n; i++) {
        double is = fit->coefficient[0];

        for (size_t j = 0; j < k; j++)
            is += fit->coefficient[j + 1] * x[i * k + j];
        off += (y[i] - is) * (y[i] - is);
        all += (y[i] - mean) * (y[i] - mean);
        if (y[i] + is != 0)
            percent += fabs(y[i] - is) / (fabs(y[i] + is) / 2);
    }
    fit->r2 = 1 - off / (double)(n - k - 1) / (all / (double)(n - 1));
    fit->smape = 100 * percent / (double)n;
}

enum adapt_fit_status adapt_fit(size_t n, size_t k, const double *x, const double *y,
                                struct adapt_fit *fit)
{
    struct system system = {.k = k};

    if (n < ADAPT_PAIRS_MIN)
        return ADAPT_TOO_FEW;
    if (!measure(&system, n, x, y))
        return ADAPT_DEPENDENT;
    correlate(&system, n, x, y);
    if (!eliminate(&system))
        return ADAPT_DEPENDENT;
    *fit = (struct adapt_fit){.coefficient = {system.mean_y}};
    for (size_t j = 0; j < k; j++) {
        fit->coefficient[j + 1] = system.right[j] / system.left[j][j] / system.spread[j];
        fit->coefficient[0] -= fit->coefficient[j + 1] * system.mean[j];
    }
    judge(fit, n, k, x, y, system.mean_y);
    return ADAPT_FITTED;
}
