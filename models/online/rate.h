/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rate - how much of y there is per x, from windows of both, and how sure that is.
 *
 * Cache misses per million instructions, or instructions per second: windows in which more was done
 * count for more, so the rate is the sum of y over the sum of x, not the mean of the windows' own
 * rates. Its standard error is that of the ratio estimator (Cochran, Sampling Techniques, eq.
 * 6.13): the windows' distances from y = rate * x, over the sum of x. Windows are taken to be
 * independent of each other.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_ONLINE_RATE_H
#define BERTH_MODELS_ONLINE_RATE_H

struct rate { /* all zero: nothing seen */
    double n; /* windows; not whole once some are half forgotten */
    double x, y, xx, xy, yy;
};

/* Takes in a window. Values that are not finite, x <= 0 and y < 0 are none: nothing changes. */
void rate_add(struct rate *rate, double x, double y);

/* Lets the windows so far weigh as `most` of them at the most, so that a slow drift is followed. */
void rate_forget(struct rate *rate, double most);

/* Returns y per x; NAN when no window was seen. */
double rate_mean(const struct rate *rate);

/* Returns the standard deviation of the rate of one window of the usual x; NAN below two windows.
 */
double rate_deviation(const struct rate *rate);

/* Returns half the width of the mean's 95 % confidence interval (Student's t); NAN below two
 * windows. */
double rate_error(const struct rate *rate);

/* Returns the 97.5 % quantile of Student's t; freedom >= 1. */
double rate_student(double freedom);

#endif
