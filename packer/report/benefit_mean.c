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

static double quantile(size_t freedom)
{
    return freedom <= STUDENT ? student[freedom - 1] : 1.96;
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

struct benefit_mean benefit_sum_mean(const struct benefit_sum *sum)
{
    struct benefit_mean result = {.n = sum->n, .mean = NAN, .half = NAN};
    double mean = sum->wx / sum->w, n = (double)sum->n, squares;

    if (sum->n == 0)
        return result;
    result.mean = sum->first + mean;
    if (sum->n == 1)
        return result;
    squares = sum->wwxx - 2 * mean * sum->wwx + mean * mean * sum->ww;
    result.half = quantile(sum->n - 1) * sqrt(fmax(squares, 0) * n / (n - 1)) / sum->w;
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
