/* SPDX-License-Identifier: GPL-2.0-or-later */
/* variation - how much less the runs of programs vary one way than the other (Blagodurov 2010, 5.2;
 * Pusukuri 2012, 3.1): the ratio of their coefficients of variation, with its interval.
 *
 * Runs are logs of the time that the same work took, so that their standard deviation is nearly the
 * coefficient of variation of the times. The error of its log is Miller's jackknife (1968), which
 * leaves out each run in turn and holds where the runs are not normal, as those of real programs
 * are not: an F test would be too sure of itself. Programs are added up by the runs that both ways
 * have, and the interval of 95 % is Student's, with Satterthwaite's degrees of freedom.
 *
 * Pure arithmetic. */
#ifndef BERTH_REPORT_VARIATION_H
#define BERTH_REPORT_VARIATION_H

#include <stdbool.h>
#include <stddef.h>

#define VARIATION_RUNS_LEAST 8 /* either way: the jackknife of fewer is too sure of itself */

/* Of the runs of a program one way. */
struct variation_spread {
    size_t n;
    double cv;               /* coefficient of variation; NAN: fewer than two runs */
    double log_sd, variance; /* log of the deviation, and the square of its standard error */
};

/* Fills it in for n logs. Returns whether they are enough, and vary: else all but n, and cv where
 * there are two, is NAN. */
bool variation_spread(size_t n, const double *x, struct variation_spread *of);

struct variation_sum { /* all zero: nothing was added */
    size_t programs;
    double w, wx, wwv, squares;
};

/* Adds a program, whose spreads are both known. */
void variation_add(struct variation_sum *sum, const struct variation_spread *from,
                   const struct variation_spread *to);

/* By which part the second way's variation is less than the first one's, and its interval; < 0: it
 * is more; NAN: nothing was added. */
struct variation_less {
    double mean, low, high;
};
struct variation_less variation_less(const struct variation_sum *sum);

#endif
