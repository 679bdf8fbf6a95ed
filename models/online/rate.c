/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/online/rate.h"

#include <math.h>
#include <stddef.h>

void rate_add(struct rate *rate, double x, double y)
{
    if (!(isfinite(x) && isfinite(y) && x > 0 && y >= 0))
        return;
    rate->n += 1;
    rate->x += x;
    rate->y += y;
    rate->xx += x * x;
    rate->xy += x * y;
    rate->yy += y * y;
}

void rate_forget(struct rate *rate, double most)
{
    double keep = most / rate->n;

    if (!(rate->n > most))
        return;
    rate->n = most;
    rate->x *= keep;
    rate->y *= keep;
    rate->xx *= keep;
    rate->xy *= keep;
    rate->yy *= keep;
}

double rate_mean(const struct rate *rate)
{
    return rate->n > 0 ? rate->y / rate->x : NAN;
}

double rate_deviation(const struct rate *rate)
{
    double r = rate_mean(rate), mean_x = rate->x / rate->n, squares;

    if (!(rate->n >= 2))
        return NAN;
    squares = rate->yy - 2 * r * rate->xy + r * r * rate->xx; /* of y - r x */
    return sqrt(fmax(squares, 0) / (rate->n - 1)) / mean_x;
}

double rate_error(const struct rate *rate)
{
    if (!(rate->n >= 2))
        return NAN;
    return rate_student(rate->n - 1) * rate_deviation(rate) / sqrt(rate->n);
}

/* From the tables to 10, then the first terms of the expansion about the normal quantile (Cornish
 * and Fisher; Abramowitz and Stegun 26.7.5), right to 2e-4 there. */
double rate_student(double freedom)
{
    static const double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                   2.4469,  2.3646, 2.3060, 2.2622, 2.2281};
    const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, v = freedom;
    size_t i = (size_t)freedom;

    if (freedom < 1 + sizeof(table) / sizeof(table[0])) /* between two entries: the wider */
        return table[i > 0 ? i - 1 : 0];
    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}
