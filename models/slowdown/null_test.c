/* SPDX-License-Identifier: GPL-2.0-or-later */
/* null_test - see null_test.h */
#include "models/slowdown/null_test.h"

#include <math.h>

/* Returns the logarithm of the density of Student's distribution of that scale at `off`, but for
 * what all of them have in common. */
static double log_density(double off, double scale)
{
    double z = off / scale;

    return -(NULL_TEST_TAIL + 1) / 2 * log1p(z * z / NULL_TEST_TAIL) - log(scale);
}

static double within(double value, double least, double most)
{
    return fmin(most, fmax(least, value));
}

/* Multiplies odds, whose logarithm is that and the prior's, by what a change says. */
static void multiply(double *odds, double says)
{
    *odds = within(*odds + within(says, -NULL_TEST_CHANGE, NULL_TEST_CHANGE),
                   -NULL_TEST_MOST - NULL_TEST_PRIOR, NULL_TEST_MOST - NULL_TEST_DECIDED);
}

void null_test_add(struct null_test *test, double predicted, double seen, double error)
{
    double null;

    if (!isfinite(predicted) || !isfinite(seen) || !isfinite(error) || !(error > 0) ||
        fabs(predicted) < NULL_TEST_LEAST)
        return;
    null = log_density(seen, error);
    multiply(&test->as_predicted,
             log_density(seen - predicted, hypot(error, NULL_TEST_MODEL * predicted)) - null);
    multiply(&test->otherwise, log_density(seen, hypot(error, NULL_TEST_SCATTER)) - null);
}

/* Returns the odds that programs disturb each other, which began at e^prior. */
static double odds_of(const struct null_test *test, double prior)
{
    return (exp(prior + test->as_predicted) + exp(prior + test->otherwise)) / 2;
}

double null_test_factor(const struct null_test *test)
{
    double odds = odds_of(test, NULL_TEST_PRIOR);

    return odds / (1 + odds);
}

double null_test_against(const struct null_test *test)
{
    return 1 / odds_of(test, NULL_TEST_DECIDED);
}
