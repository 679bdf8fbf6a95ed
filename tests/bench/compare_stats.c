/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compare_stats - see compare_table.h */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "tests/bench/compare_table.h"

#define RANKS_MAX (COMPARE_ROUNDS_MAX * (COMPARE_ROUNDS_MAX + 1)) /* twice the sum of all ranks */

/* What a round says: how much worse HEAD is, in the logarithm. */
struct round {
    double worse;
    int rank2; /* twice the rank of its size among all: those that are equal share theirs */
};

void compare_add(struct compare_samples *samples, double value)
{
    if (array_grow(&samples->value, &samples->room, samples->n + 1, sizeof(*samples->value)) < 0) {
        fputs("compare: out of memory\n", stderr);
        exit(1);
    }
    samples->value[samples->n++] = value;
}

size_t compare_count(const struct compare_figure *figure, enum compare_side side)
{
    size_t n = 0;

    for (size_t i = 0; i < COMPARE_ROUNDS_MAX; i++)
        n += figure->of[side][i].n;
    return n;
}

static double quantile_of(double *value, size_t n, double quantile)
{
    double median = array_median(value, n); /* sorts them */
    size_t at = (size_t)ceil(quantile * (double)n);

    return quantile == 0.5 ? median : value[at > 0 ? at - 1 : 0];
}

/* How many times worse HEAD is. */
static double badness(const struct compare_figure *figure, double rev, double head)
{
    double from = figure->more ? head : rev, to = figure->more ? rev : head;

    if (rev == head || to <= 0)
        return 1;
    return from > 0 ? to / from : INFINITY;
}

/* ---- is it chance? ---- */

static void rank(struct round *round, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        round[i].rank2 = 1;
        for (size_t j = 0; j < n; j++)
            round[i].rank2 += 2 * (fabs(round[j].worse) < fabs(round[i].worse)) +
                              (fabs(round[j].worse) == fabs(round[i].worse));
    }
}

/* Returns which part of all ways to give the ranks a sign has a sum of those of the positive that
 * is at least as large as the one that was found (Wilcoxon 1945). */
static double signed_rank(struct round *round, size_t n)
{
    static double ways[RANKS_MAX + 1]; /* by twice the sum */
    double as_bad = 0, all = 0;
    int found = 0, most = 0;

    rank(round, n);
    memset(ways, 0, sizeof(ways));
    ways[0] = 1;
    for (size_t i = 0; i < n; i++) {
        found += round[i].worse > 0 ? round[i].rank2 : 0;
        most += round[i].rank2;
        for (int sum = most; sum >= round[i].rank2; sum--)
            ways[sum] += ways[sum - round[i].rank2];
    }
    for (int sum = 0; sum <= most; sum++) {
        all += ways[sum];
        as_bad += sum >= found ? ways[sum] : 0;
    }
    return as_bad / all;
}

static double chance(struct compare_figure *figure, double quantile)
{
    struct round round[COMPARE_ROUNDS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < COMPARE_ROUNDS_MAX; i++) {
        struct compare_samples *rev = &figure->of[COMPARE_REV][i];
        struct compare_samples *head = &figure->of[COMPARE_HEAD][i];

        if (rev->n == 0 || head->n == 0)
            continue;
        round[n].worse = log(badness(figure, quantile_of(rev->value, rev->n, quantile),
                                     quantile_of(head->value, head->n, quantile)));
        n += round[n].worse != 0;
    }
    return signed_rank(round, n);
}

/* ---- a figure ---- */

/* Of all samples of the rounds that the other side has, too, or of all where it has none. */
static double pooled(const struct compare_figure *figure, enum compare_side side, double quantile)
{
    enum compare_side other = COMPARE_HEAD - side;
    bool is_alone = compare_count(figure, other) == 0;
    struct compare_samples all = {0};
    double value = NAN;

    for (size_t i = 0; i < COMPARE_ROUNDS_MAX; i++)
        for (size_t s = 0; s < figure->of[side][i].n; s++)
            if (is_alone || figure->of[other][i].n > 0)
                compare_add(&all, figure->of[side][i].value[s]);
    if (all.n > 0)
        value = quantile_of(all.value, all.n, quantile);
    free(all.value);
    return value;
}

struct compare_verdict compare_quantile(struct compare_figure *figure, double quantile)
{
    struct compare_verdict verdict = {.ratio = NAN, .p = NAN};
    double bad;

    for (int side = 0; side < COMPARE_SIDES; side++)
        verdict.value[side] = pooled(figure, (enum compare_side)side, quantile);
    if (isnan(verdict.value[COMPARE_REV]) || isnan(verdict.value[COMPARE_HEAD]))
        return verdict;
    bad = badness(figure, verdict.value[COMPARE_REV], verdict.value[COMPARE_HEAD]);
    verdict.ratio = figure->more ? 1 / bad : bad;
    verdict.p = figure->exact ? NAN : chance(figure, quantile);
    verdict.worse = bad > COMPARE_TOLERANCE && !(verdict.p >= COMPARE_P);
    return verdict;
}
