/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eval_observed - see eval.h: some of the truth with noise, and what evidence makes of it. */
#include <math.h>

#include "models/slowdown/evidence.h"
#include "lab/plan/observed.h"
#include "tests/bench/eval.h"

#define NOISE 0.05
#define SOLVES_MAX 1000

/* Returns the same sequence on every run and every machine (xorshift), in 0 .. 1. */
static double uniform(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) / (double)(1ull << 53);
}

/* Returns the standard deviation of what is measured where the slowdown is `value`. */
static double error_of(enum eval_noise noise, double value)
{
    switch (noise) {
    case EVAL_NOISE_SLOWDOWN:
        return NOISE * fabs(value);
    case EVAL_NOISE_POINTS:
        return NOISE;
    default:
        return NOISE * (1 + value);
    }
}

/* Returns about normal noise of variance 1. */
static double normal(uint64_t *state)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum;
}

void eval_observe(const struct eval_set *set, const struct eval_observing *how, double part,
                  unsigned draw, double *seen)
{
    uint64_t state = 0x9e3779b97f4a7c15u * ((uint64_t)how->seed + draw + 1);
    size_t n = set->apps.n;

    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            const size_t at[2] = {i * n + j, j * n + i};
            bool observed = uniform(&state) < part;

            for (int k = 0; k < (i == j ? 1 : 2); k++) {
                double truth = set->truth[at[k]];

                if (k == 1 && how->directions)
                    observed = uniform(&state) < part;
                seen[at[k]] = observed ? truth + error_of(how->noise, truth) * normal(&state) : NAN;
            }
        }
}

/* Tells evidence of one program beside another. */
static void tell(struct evidence *evidence, enum eval_noise noise, size_t i, size_t j,
                 double predicted, double slowdown)
{
    const struct evidence_seen seen = {.program = i,
                                       .n = 1,
                                       .beside = &j,
                                       .predicted = predicted,
                                       .slowdown = slowdown,
                                       .error = error_of(noise, fmax(0, slowdown)),
                                       .weight = 1};

    evidence_observe(evidence, &seen);
}

int eval_evidence(const struct eval_set *set, enum eval_noise noise, const double *predicted,
                  const double *seen, double *matrix)
{
    struct evidence *evidence = evidence_new(NULL);
    size_t n = set->apps.n;

    if (!evidence)
        return -1;
    for (size_t i = 0; i < n; i++)
        evidence_program(evidence, i,
                         evidence_constants.doubt[ctl_observed_rung(&set->apps.app[i])]);
    for (size_t at = 0; at < n * n; at++)
        if (!isnan(seen[at]))
            tell(evidence, noise, at / n, at % n, predicted[at], seen[at]);
    for (int i = 0; i < SOLVES_MAX && evidence_solve(evidence) > 0; i++)
        ;
    for (size_t at = 0; at < n * n; at++)
        matrix[at] =
            evidence_correct(evidence, at / n, 1, &(size_t){at % n}, NULL, predicted[at], NULL);
    evidence_free(evidence);
    return 0;
}
