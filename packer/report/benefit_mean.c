/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_mean - see benefit_mean.h */
#include "packer/report/benefit_mean.h"

#include <math.h>

/* Student's t for 95 %, two-sided, by degrees of freedom from 1 on. */
static const double student[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
#define STUDENT (sizeof(student) / sizeof(student[0]))
#define NORMAL 1.96 /* of infinitely many */

double benefit_student(double freedom)
{
    const size_t most = STUDENT;
    double below, above;
    size_t n = (size_t)freedom;

    if (freedom < 1)
        return pow(student[0], 1 / freedom);
    if (n >= most)
        return NORMAL + (student[most - 1] - NORMAL) * (double)most / freedom;
    below = student[n - 1];
    above = student[n];
    return below +
           (above - below) * (1 / (double)n - 1 / freedom) / (1 / (double)n - 1 / (double)(n + 1));
}

void benefit_sum_add(struct benefit_sum *sum, double x, double w)
{
    if (!isfinite(x) || !(w > 0))
        return;
    if (sum->n++ == 0)
        sum->first = x;
    x -= sum->first;
    sum->w += w;
    sum->wx += w * x;
    sum->ww += w * w;
    sum->wwx += w * w * x;
    sum->wwxx += w * w * x * x;
}

double benefit_sum_error(const struct benefit_sum *sum, double *freedom)
{
    double mean = sum->wx / sum->w, effective = sum->w * sum->w / sum->ww, squares;

    *freedom = NAN;
    if (sum->n < 2 || !(effective > 1))
        return NAN;
    *freedom = effective - 1;
    squares = sum->wwxx - 2 * mean * sum->wwx + mean * mean * sum->ww;
    return sqrt(fmax(squares, 0) * effective / *freedom) / sum->w;
}

struct benefit_mean benefit_sum_mean(const struct benefit_sum *sum)
{
    struct benefit_mean result = {.n = sum->n, .mean = NAN, .half = NAN};
    double freedom;

    if (sum->n == 0)
        return result;
    result.mean = sum->first + sum->wx / sum->w;
    result.half = benefit_sum_error(sum, &freedom);
    if (!isnan(freedom))
        result.half *= benefit_student(freedom);
    return result;
}

void benefit_amount_add(struct benefit_amount *amount, double x)
{
    if (!isfinite(x))
        return;
    if (amount->n++ == 0)
        amount->sum = amount->gained = amount->lost = 0;
    amount->sum += x;
    amount->gained += fmax(x, 0);
    amount->lost += fmin(x, 0);
}
