/* SPDX-License-Identifier: GPL-2.0-or-later */
/* null_test - whether programs disturb each other on a machine at all: the probability of that
 * against the null hypothesis that nobody disturbs anybody.
 *
 * It is found from changes: somebody comes, goes or moves, and a step's slowdown should change by
 * so much, or by nothing. (Levels say less: a slowdown that was never measured against the program
 * alone is only as true as the prediction that it was measured against.) Three hypotheses say what
 * is seen of a change: Student's distribution with NULL_TEST_TAIL degrees of freedom, for a phase
 * of a program may begin at the same moment, about nothing, with the error of what is seen (the
 * null); about what is predicted, which may be out by NULL_TEST_MODEL of itself; about nothing,
 * with a scatter of NULL_TEST_SCATTER besides: programs disturb each other, and not as predicted.
 * Each change multiplies the odds of the latter two against the null, by no more than
 * e^NULL_TEST_CHANGE. What is told begins at odds of e^NULL_TEST_PRIOR, and what is decided at
 * e^NULL_TEST_DECIDED, for a needless move costs more than a needless word; the former's do not go
 * below e^-NULL_TEST_MOST, and the latter's not above e^NULL_TEST_MOST, so that a machine, or what
 * runs on it, may change. The prediction is that of the model alone: one that was corrected by the
 * same changes comes true by itself, or is about nothing. A predicted change below NULL_TEST_LEAST
 * says nothing: where the steps stand well, there are only such ones.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_SLOWDOWN_NULL_TEST_H
#define BERTH_MODELS_SLOWDOWN_NULL_TEST_H

#define NULL_TEST_PRIOR 4.0
#define NULL_TEST_DECIDED 1.0
#define NULL_TEST_CHANGE 2.0
#define NULL_TEST_MOST 5.0
#define NULL_TEST_LEAST 0.03
#define NULL_TEST_MODEL 0.5
#define NULL_TEST_SCATTER 0.15
#define NULL_TEST_TAIL 4.0

struct null_test {       /* all zero: nothing was seen */
    double as_predicted; /* the logarithms of what all changes have multiplied the odds by, */
    double otherwise;    /* of these two hypotheses */
};

/* Takes a change in, or what was measured of neighbours before: of the logarithm of the time for
 * the same work, as predicted, and as seen, with its standard deviation. One that is not finite
 * says nothing. */
void null_test_add(struct null_test *test, double predicted, double seen, double error);

/* Returns the probability that programs disturb each other: above 0. */
double null_test_factor(const struct null_test *test);

/* Returns the odds that nobody disturbs anybody, as decisions take them: above 0. */
double null_test_against(const struct null_test *test);

#endif
