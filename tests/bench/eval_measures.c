/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eval_measures - see eval.h */
#include "tests/bench/eval.h"

#include <math.h>
#include <stdlib.h>

#define PROGRAMS_MAX 8 /* of a workload */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double eval_median(size_t n, double *values)
{
    qsort(values, n, sizeof(*values), compare);
    return n ? (values[(n - 1) / 2] + values[n / 2]) / 2 : NAN;
}

/* Ranks of values, equal ones sharing their mean rank; quadratic. */
static void rank(size_t n, const double *value, double *ranks)
{
    for (size_t i = 0; i < n; i++) {
        double less = 0, equal = 0;

        for (size_t j = 0; j < n; j++) {
            less += value[j] < value[i];
            equal += value[j] == value[i];
        }
        ranks[i] = less + (equal - 1) / 2;
    }
}

double eval_spearman(size_t n, const double *a, const double *b)
{
    double *rank_a = calloc(2 * n + 1, sizeof(*rank_a)), *rank_b = rank_a + n;
    double mean = ((double)n - 1) / 2, ab = 0, aa = 0, bb = 0;

    if (!rank_a)
        return NAN;
    rank(n, a, rank_a);
    rank(n, b, rank_b);
    for (size_t i = 0; i < n; i++) {
        ab += (rank_a[i] - mean) * (rank_b[i] - mean);
        aa += (rank_a[i] - mean) * (rank_a[i] - mean);
        bb += (rank_b[i] - mean) * (rank_b[i] - mean);
    }
    free(rank_a);
    return ab / sqrt(aa * bb);
}

/* ---- schedules ---- */

/* The pairings of one workload: what each suffers by the truth, of which one is liked best. */
struct pairings {
    const struct eval_set *set;
    const double *matrix;
    size_t programs, of[PROGRAMS_MAX];
    double best, chosen, least, sum, count;
};

/* Pairs the first that is left with each other one, and so on. truth, predicted: of the pairs so
 * far. */
static void pair_rest(struct pairings *pairings, unsigned left, double truth, double predicted)
{
    size_t n = pairings->set->apps.n, i = 0;

    if (left == 0) {
        pairings->best = fmin(pairings->best, truth);
        pairings->sum += truth;
        pairings->count++;
        if (pairings->matrix && predicted < pairings->least) {
            pairings->least = predicted;
            pairings->chosen = truth;
        }
        return;
    }
    while (!(left & 1u << i))
        i++;
    for (size_t j = i + 1; j < pairings->programs; j++) {
        size_t a = pairings->of[i] * n + pairings->of[j];
        size_t b = pairings->of[j] * n + pairings->of[i];
        const double *matrix = pairings->matrix;

        if (left & 1u << j)
            pair_rest(pairings, left & ~(1u << i | 1u << j),
                      truth + pairings->set->truth[a] + pairings->set->truth[b],
                      matrix ? predicted + matrix[a] + matrix[b] : 0);
    }
}

/* Adds the gap of one workload, and of all that add programs from `next` on to it. */
static void add_gaps(struct pairings *pairings, size_t filled, size_t next, double *sum,
                     size_t *count)
{
    if (filled == pairings->programs) {
        pairings->best = pairings->least = INFINITY;
        pairings->sum = pairings->count = 0;
        pair_rest(pairings, (1u << filled) - 1, 0, 0);
        if (!isnan(pairings->sum)) {
            *sum +=
                (pairings->least < INFINITY ? pairings->chosen : pairings->sum / pairings->count) -
                pairings->best;
            (*count)++;
        }
        return;
    }
    for (size_t i = next; i < pairings->set->apps.n; i++) {
        pairings->of[filled] = i;
        add_gaps(pairings, filled + 1, i + 1, sum, count);
    }
}

double eval_gap(const struct eval_set *set, const double *matrix, size_t programs)
{
    struct pairings pairings = {.set = set, .matrix = matrix, .programs = programs};
    double sum = 0;
    size_t count = 0;

    add_gaps(&pairings, 0, 0, &sum, &count);
    return count ? 100 * sum / (double)count / (double)programs : NAN;
}
