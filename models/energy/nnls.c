/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/energy/nnls.h"

#include <math.h>
#include <string.h>

#define PIVOT 1e-10     /* of a column's square: below, it depends on those before */
#define TOLERANCE 1e-12 /* of a gradient, relative to what it is made of */
#define ROUNDS (16 * NNLS_MAX)
#define INFLATION_MAX 400.0
#define SAMPLES_SPARE 3

/* Columns that take part, in order. */
struct set {
    size_t n, of[NNLS_MAX];
};

/* Finds Cholesky's factor of G on the set. Returns false where G is not positive definite. */
static bool factor(const double g[][NNLS_MAX], const struct set *set, double l[][NNLS_MAX])
{
    for (size_t i = 0; i < set->n; i++)
        for (size_t j = 0; j <= i; j++) {
            double diagonal = g[set->of[i]][set->of[i]], sum = g[set->of[i]][set->of[j]];

            for (size_t k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            if (i != j)
                l[i][j] = sum / l[j][j];
            else if (!(sum > PIVOT * diagonal))
                return false;
            else
                l[i][i] = sqrt(sum);
        }
    return true;
}

/* Solves L L' z = r. */
static void substitute(const double l[][NNLS_MAX], size_t n, const double *r, double *z)
{
    for (size_t i = 0; i < n; i++) {
        z[i] = r[i];
        for (size_t k = 0; k < i; k++)
            z[i] -= l[i][k] * z[k];
        z[i] /= l[i][i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            z[i] -= l[k][i] * z[k];
        z[i] /= l[i][i];
    }
}

/* Solves it unconstrained on the set, into z by column. Returns false where its columns depend on
 * each other. */
static bool solve_set(const double g[][NNLS_MAX], const double *h, const struct set *set, double *z)
{
    double l[NNLS_MAX][NNLS_MAX], r[NNLS_MAX], y[NNLS_MAX];

    if (!factor(g, set, l))
        return false;
    for (size_t i = 0; i < set->n; i++)
        r[i] = h[set->of[i]];
    substitute((const double(*)[NNLS_MAX])l, set->n, r, y);
    memset(z, 0, NNLS_MAX * sizeof(*z));
    for (size_t i = 0; i < set->n; i++)
        z[set->of[i]] = y[i];
    return true;
}

/* ---- Lawson and Hanson ---- */

/* Step 5: returns the column outside the set (and not tried in vain) whose weight would help most
 * when it grew; n: none. */
static size_t best_outside(size_t n, const double g[][NNLS_MAX], const double *h, const double *x,
                           const bool *out)
{
    double most = 0;
    size_t best = n;

    for (size_t i = 0; i < n; i++) {
        double slope = h[i], size = fabs(h[i]);

        if (!out[i])
            continue;
        for (size_t k = 0; k < n; k++) {
            slope -= g[i][k] * x[k];
            size += fabs(g[i][k] * x[k]);
        }
        slope = slope > TOLERANCE * size && g[i][i] > 0 ? slope / sqrt(g[i][i]) : 0;
        if (slope > most) {
            most = slope;
            best = i;
        }
    }
    return best;
}

/* Steps 8 to 11: from x towards z until a weight is 0; those at 0 leave the set. */
static void step_back(struct set *set, double *x, const double *z)
{
    double alpha = 1;
    size_t kept = 0;

    for (size_t i = 0; i < set->n; i++) {
        size_t c = set->of[i];

        if (z[c] <= 0)
            alpha = fmin(alpha, x[c] / (x[c] - z[c]));
    }
    for (size_t i = 0; i < set->n; i++) {
        size_t c = set->of[i];
        double moved = x[c] + alpha * (z[c] - x[c]);

        if (z[c] <= 0 && moved <= 1e-14 * (x[c] - z[c]))
            x[c] = 0;
        else
            x[c] = moved, set->of[kept++] = c;
    }
    set->n = kept;
}

/* Steps 6 to 11: x becomes the best on the set, which gets smaller until no weight is negative.
 * False: `fresh`, which has come last, depends on the others or would not grow: it is out again. */
static bool settle(const double g[][NNLS_MAX], const double *h, struct set *set, size_t fresh,
                   double *x)
{
    double z[NNLS_MAX];
    bool first = true;

    while (set->n > 0) {
        bool solved = solve_set(g, h, set, z), fine = true;

        if (first && (!solved || z[fresh] <= 0)) {
            set->n--;
            return false;
        }
        if (!solved) /* cannot be: a subset of a set that could be solved */
            return true;
        first = false;
        for (size_t i = 0; i < set->n; i++)
            fine &= z[set->of[i]] > 0;
        if (fine) {
            memcpy(x, z, NNLS_MAX * sizeof(*x));
            return true;
        }
        step_back(set, x, z);
    }
    return true;
}

static bool finite_all(size_t n, const double g[][NNLS_MAX], const double *h)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += h[i] * 0;
        for (size_t k = 0; k < n; k++)
            sum += g[i][k] * 0;
    }
    return sum == 0;
}

int nnls_gram(size_t n, const double g[][NNLS_MAX], const double *h, double *x)
{
    double w[NNLS_MAX] = {0};
    bool out[NNLS_MAX];
    struct set set = {0};

    if (n == 0 || n > NNLS_MAX || !finite_all(n, g, h))
        return -1;
    for (size_t i = 0; i < n; i++)
        out[i] = true;
    for (int round = 0; round < ROUNDS; round++) {
        size_t fresh = best_outside(n, g, h, w, out);

        if (fresh == n)
            break;
        set.of[set.n++] = fresh;
        if (!settle(g, h, &set, fresh, w)) {
            out[fresh] = false; /* in vain, until something else has changed */
            continue;
        }
        for (size_t i = 0; i < n; i++)
            out[i] = true;
        for (size_t i = 0; i < set.n; i++)
            out[set.of[i]] = false;
    }
    memcpy(x, w, n * sizeof(*x));
    return 0;
}

/* ---- on line ---- */

void nnls_fit_init(struct nnls_fit *fit, size_t n, double memory)
{
    memset(fit, 0, sizeof(*fit));
    fit->n = n < NNLS_MAX ? n : NNLS_MAX;
    fit->keep = 1 - 1 / memory;
}

/* Returns the sum of squares that no weights explain. */
static double unexplained(const struct nnls_fit *fit, const double *w)
{
    double sum = fit->yy;

    for (size_t i = 0; i < fit->n; i++) {
        sum -= 2 * w[i] * fit->h[i];
        for (size_t k = 0; k < fit->n; k++)
            sum += w[i] * fit->g[i][k] * w[k];
    }
    return fmax(sum, 0);
}

/* The rank-one part of the information that lies along x gets lighter: with a = G x / sqrt(x'G x)
 * and c = x'h / sqrt(x'G x), the sum of squares loses (1 - keep) (a'w - c)^2. */
static void forget_along(struct nnls_fit *fit, const double *x)
{
    double gx[NNLS_MAX] = {0}, xgx = 0, xh = 0, lost = 1 - fit->keep;

    for (size_t i = 0; i < fit->n; i++) {
        for (size_t k = 0; k < fit->n; k++)
            gx[i] += fit->g[i][k] * x[k];
        xgx += x[i] * gx[i];
        xh += x[i] * fit->h[i];
    }
    if (!(xgx > 0))
        return;
    for (size_t i = 0; i < fit->n; i++) {
        fit->h[i] -= lost * gx[i] * xh / xgx;
        for (size_t k = 0; k < fit->n; k++)
            fit->g[i][k] -= lost * gx[i] * gx[k] / xgx;
    }
    fit->yy = fmax(fit->yy - lost * xh * xh / xgx, 0);
}

/* What is not explained has no direction: it fades as a whole. */
static void forget_noise(struct nnls_fit *fit)
{
    double w[NNLS_MAX];

    if (nnls_gram(fit->n, (const double(*)[NNLS_MAX])fit->g, fit->h, w) < 0)
        return;
    fit->yy = fmax(fit->yy - (1 - fit->keep) * unexplained(fit, w), 0);
    fit->samples *= fit->keep;
}

void nnls_fit_add(struct nnls_fit *fit, const double *x, double y)
{
    double sum = y * 0;

    for (size_t i = 0; i < fit->n; i++)
        sum += x[i] * 0;
    if (sum != 0)
        return;
    forget_noise(fit);
    forget_along(fit, x);
    for (size_t i = 0; i < fit->n; i++) {
        fit->h[i] += x[i] * y;
        for (size_t k = 0; k < fit->n; k++)
            fit->g[i][k] += x[i] * x[k];
    }
    fit->yy += y * y;
    fit->samples++;
}

/* Returns the i-th diagonal element of the inverse of G on the set. */
static double inverse_at(const double l[][NNLS_MAX], size_t n, size_t i)
{
    double unit[NNLS_MAX] = {0}, z[NNLS_MAX];

    unit[i] = 1;
    substitute(l, n, unit, z);
    return z[i];
}

double nnls_fit_size(const struct nnls_fit *fit, size_t i)
{
    return i < fit->n && fit->g[0][0] > 0 ? sqrt(fmax(fit->g[i][i], 0) / fit->g[0][0]) : 0;
}

/* Returns whether the weight of each column of the set is known well enough. */
static bool determined(const struct nnls_fit *fit, const struct set *set, double noise,
                       double within)
{
    double l[NNLS_MAX][NNLS_MAX], mean = fit->g[0][0] > 0 ? sqrt(fit->yy / fit->g[0][0]) : 0;

    if (!factor((const double(*)[NNLS_MAX])fit->g, set, l))
        return false;
    for (size_t i = 0; i < set->n; i++) {
        double inverse = inverse_at((const double(*)[NNLS_MAX])l, set->n, i);
        double square = fit->g[set->of[i]][set->of[i]];

        if (!(inverse * square < INFLATION_MAX) ||
            !(sqrt(noise * inverse) * nnls_fit_size(fit, set->of[i]) <= within * mean))
            return false;
    }
    return true;
}

bool nnls_fit_weights(const struct nnls_fit *fit, unsigned columns, double within, double *w)
{
    double g[NNLS_MAX][NNLS_MAX] = {{0}}, h[NNLS_MAX] = {0};
    struct set set = {0};

    for (size_t i = 0; i < fit->n; i++)
        if (columns & 1u << i)
            set.of[set.n++] = i;
    for (size_t i = 0; i < set.n; i++) {
        h[set.of[i]] = fit->h[set.of[i]];
        for (size_t k = 0; k < set.n; k++)
            g[set.of[i]][set.of[k]] = fit->g[set.of[i]][set.of[k]];
    }
    if (set.n == 0 || fit->samples < (double)(set.n + SAMPLES_SPARE) ||
        nnls_gram(fit->n, (const double(*)[NNLS_MAX])g, h, w) < 0)
        return false;
    return determined(fit, &set, unexplained(fit, w) / (fit->samples - (double)set.n), within);
}
