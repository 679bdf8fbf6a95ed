/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adapt_fit - least squares for the coefficients of PAAP and PACC; see adapt.h
 *
 * Predictors are taken from their means and in units of their spread, so that what is solved is a
 * matrix of correlations, whose pivots say how much of a predictor the others do not have. */
#include "models/inside/adapt.h"

#include <math.h>
#include <stdlib.h>
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

/* Finds the k + 1 coefficients. Returns false, and nothing is found, where the rows do not say. */
static bool solve(size_t n, size_t k, const double *x, const double *y, double *coefficient)
{
    struct system system = {.k = k};

    if (!measure(&system, n, x, y))
        return false;
    correlate(&system, n, x, y);
    if (!eliminate(&system))
        return false;
    coefficient[0] = system.mean_y;
    for (size_t j = 0; j < k; j++) {
        coefficient[j + 1] = system.right[j] / system.left[j][j] / system.spread[j];
        coefficient[0] -= coefficient[j + 1] * system.mean[j];
    }
    return true;
}

/* ---- how good it is ---- */

static double predict(size_t k, const double *coefficient, const double *x)
{
    double is = coefficient[0];

    for (size_t j = 0; j < k; j++)
        is += coefficient[j + 1] * x[j];
    return is;
}

/* A term of eq. 6.2. */
static double error_of(double actual, double forecast)
{
    return actual + forecast != 0 ? fabs(actual - forecast) / (fabs(actual + forecast) / 2) : 0;
}

static void judge(struct adapt_fit *fit, size_t n, size_t k, const double *x, const double *y)
{
    double off = 0, all = 0, error = 0, mean = 0;

    for (size_t i = 0; i < n; i++)
        mean += y[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        double is = predict(k, fit->coefficient, &x[i * k]);

        off += (y[i] - is) * (y[i] - is);
        all += (y[i] - mean) * (y[i] - mean);
        error += error_of(y[i], is);
    }
    fit->r2 = 1 - off / (double)(n - k - 1) / (all / (double)(n - 1));
    fit->smape = 100 * error / (double)n;
}

/* Fits all rows but each ADAPT_FOLDS-th from `fold` on, and adds the errors of these. x_rest,
 * y_rest: room for the others. Returns whether they could be fitted. */
static bool judge_fold(size_t n, size_t k, const double *x, const double *y, size_t fold,
                       double *x_rest, double *y_rest, double *error)
{
    double coefficient[ADAPT_PAAP];
    size_t rest = 0;

    for (size_t i = 0; i < n; i++)
        if (i % ADAPT_FOLDS != fold) {
            memcpy(&x_rest[rest * k], &x[i * k], k * sizeof(*x));
            y_rest[rest++] = y[i];
        }
    if (!solve(rest, k, x_rest, y_rest, coefficient))
        return false;
    for (size_t i = fold; i < n; i += ADAPT_FOLDS)
        *error += error_of(y[i], predict(k, coefficient, &x[i * k]));
    return true;
}

/* The sMAPE of rows that are not fitted to; NAN: some of them cannot be left out. */
static double judge_unseen(size_t n, size_t k, const double *x, const double *y)
{
    double *x_rest = calloc(n * k, sizeof(*x_rest)), *y_rest = calloc(n, sizeof(*y_rest));
    bool fitted = x_rest && y_rest;
    double error = 0;

    for (size_t fold = 0; fitted && fold < ADAPT_FOLDS; fold++)
        fitted = judge_fold(n, k, x, y, fold, x_rest, y_rest, &error);
    free(x_rest);
    free(y_rest);
    return fitted ? 100 * error / (double)n : NAN;
}

enum adapt_fit_status adapt_fit(size_t n, size_t k, const double *x, const double *y,
                                struct adapt_fit *fit)
{
    struct adapt_fit found = {.r2 = 0};

    if (n < ADAPT_PAIRS_MIN)
        return ADAPT_TOO_FEW;
    if (!solve(n, k, x, y, found.coefficient))
        return ADAPT_DEPENDENT;
    judge(&found, n, k, x, y);
    found.unseen_smape = judge_unseen(n, k, x, y);
    *fit = found;
    return ADAPT_FITTED;
}
