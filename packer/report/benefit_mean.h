/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_mean - adds up weighted values, one by one, to a mean and its interval. */
#ifndef BERTH_REPORT_BENEFIT_MEAN_H
#define BERTH_REPORT_BENEFIT_MEAN_H

#include "packer/report/benefit.h"

/* Sums over values x of weight w, relative to the first value: nothing is lost by taking the
 * difference of great sums. */
struct benefit_sum {
    size_t n;
    double first, w, wx, ww, wwx, wwxx;
};

/* Adds a value; one that is NAN, or weighs nothing, is not added. */
void benefit_sum_add(struct benefit_sum *sum, double x, double w);

/* Returns Student's t for 95 %, two-sided, by degrees of freedom above 0, which may be no whole
 * number. */
double benefit_student(double freedom);

/* Returns the standard error of the mean, and its degrees of freedom: those of the values that
 * weigh, (sum of w)^2 / (sum of w^2) of them (Kish 1965), less one. Both NAN where n is below 2. */
double benefit_sum_error(const struct benefit_sum *sum, double *freedom);

/* Returns the mean with its interval. */
struct benefit_mean benefit_sum_mean(const struct benefit_sum *sum);

/* Adds to an amount; NAN is not added. */
void benefit_amount_add(struct benefit_amount *amount, double x);

#endif
