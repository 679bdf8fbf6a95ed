/* SPDX-License-Identifier: GPL-2.0-or-later */
/* variation - see variation.h */
#include "packer/report/variation.h"

#include <math.h>

#include "packer/report/benefit_mean.h"

static double mean_of(size_t n, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] / (double)n;
    return sum;
}

static double squares_of(size_t n, const double *x, double mean)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

/* The log of the deviation of all but the i-th. */
static double log_sd_but(size_t n, const double *x, double mean, double squares, size_t i)
{
    double runs = (double)n, off = x[i] - mean;
    double left = squares - runs / (runs - 1) * off * off;

    return log(left / (runs - 2)) / 2;
}

static void jackknife(size_t n, const double *x, double mean, struct variation_spread *of)
{
    double runs = (double)n, squares = squares_of(n, x, mean), sum = 0, spread = 0;

    for (size_t i = 0; i < n; i++)
        sum += log_sd_but(n, x, mean, squares, i);
    for (size_t i = 0; i < n; i++) {
        double off = log_sd_but(n, x, mean, squares, i) - sum / runs;

        spread += off * off;
    }
    of->log_sd = runs * log(squares / (runs - 1)) / 2 - (runs - 1) * sum / runs;
    of->variance = (runs - 1) / runs * spread;
}

bool variation_spread(size_t n, const double *x, struct variation_spread *of)
{
    double mean = mean_of(n, x), squares = squares_of(n, x, mean);

    *of = (struct variation_spread){.n = n, .cv = NAN, .log_sd = NAN, .variance = NAN};
    if (n >= 2)
        of->cv = sqrt(expm1(squares / (double)(n - 1)));
    if (n >= VARIATION_RUNS_LEAST)
        jackknife(n, x, mean, of);
    return isfinite(of->log_sd) && of->variance > 0;
}

void variation_add(struct variation_sum *sum, const struct variation_spread *from,
                   const struct variation_spread *to)
{
    double w = 1 / (1 / (double)from->n + 1 / (double)to->n);

    sum->programs++;
    sum->w += w;
    sum->wx += w * (to->log_sd - from->log_sd);
    sum->wwv += w * w * (from->variance + to->variance);
    sum->squares += pow(w, 4) * (from->variance * from->variance / (double)(from->n - 1) +
                                 to->variance * to->variance / (double)(to->n - 1));
}

struct variation_less variation_less(const struct variation_sum *sum)
{
    double log = sum->wx / sum->w, half;

    if (!sum->programs)
        return (struct variation_less){NAN, NAN, NAN};
    half = benefit_student(sum->wwv * sum->wwv / sum->squares) * sqrt(sum->wwv) / sum->w;
    return (struct variation_less){-expm1(log), -expm1(log + half), -expm1(log - half)};
}
