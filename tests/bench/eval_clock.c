/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eval_clock - see eval.h: sets that were measured while the clock was not fixed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/eval.h"

/* What is known of settings beforehand, of the clock that the set tells: how many times as fast a
 * program alone is, and how many times slower cores are with all of them busy. The figures are of
 * one machine (Dzikowski 2025), of programs that only compute: 1.84 times as fast alone with turbo,
 * and 3.1 % slower beside others; half as fast with powersave. */
static const struct setting {
    const char *word;
    double alone, falls;
} settings[] = {
    {"turbo", 1.84, 1.031}, {"boost", 1.84, 1.031}, {"powersave", 1 / 2.06, 1}, {NULL, 1, 1}};

const char *eval_clock_words(void)
{
    return "turbo|powersave|fixed";
}

/* Returns the cores of the largest pair. */
static size_t cores_of(const struct eval_set *set)
{
    size_t most = 1;

    for (size_t i = 0; i < set->apps.n; i++)
        most = set->apps.app[i].cores > most ? set->apps.app[i].cores : most;
    return 2 * most;
}

void eval_clock_set(struct eval_set *set, const char *word)
{
    struct app_machine *machine = &set->apps.machine;
    const struct setting *setting = settings;
    double alone_ghz;

    while (setting->word && !(word && strstr(word, setting->word)))
        setting++;
    if (!setting->word || clock_is_known(&machine->clock) || !(machine->clock_ghz > 0))
        return;
    alone_ghz = setting->alone * machine->clock_ghz;
    machine->clock = (struct clock_curve){.one_ghz = alone_ghz,
                                          .half_ghz = alone_ghz,
                                          .all_ghz = alone_ghz / setting->falls,
                                          .cores = cores_of(set)};
    for (size_t i = 0; i < set->apps.n; i++)
        if (!(set->apps.app[i].clock_ghz > 0))
            set->apps.app[i].clock_ghz = machine->clock_ghz;
}

int eval_clock_works(const struct eval_set *set, const struct contend_constants *constants,
                     double *works)
{
    struct app_machine machine = set->apps.machine;
    struct contend *contend = contend_new(set->apps.n, set->apps.app, &machine, constants);

    if (!contend)
        return -1;
    for (size_t i = 0; i < set->apps.n; i++)
        works[i] = contend_works(contend, i);
    contend_free(contend);
    return 0;
}

/* Fills in which part of each of a curve's two lines, from one busy core to half of them and from
 * there to all, lies between two numbers of busy cores. */
static void lines_between(double alone, double busy, double cores, double part[2])
{
    double half = cores / 2;

    part[0] = half > 1 ? (fmin(busy, half) - fmin(alone, half)) / (half - 1) : 0;
    part[1] = (fmax(busy, half) - fmax(alone, half)) / (cores - half);
}

/* What the two lines make of a pair, for each fall of 1. */
static void lines_of(const struct eval_set *set, const double *works, size_t at, double part[2])
{
    const struct ctl_apps *apps = &set->apps;
    double alone = (double)apps->app[at / apps->n].cores;

    lines_between(alone, alone + (double)apps->app[at % apps->n].cores, (double)cores_of(set),
                  part);
    part[0] *= works[at / apps->n];
    part[1] *= works[at / apps->n];
}

/* The sums of least squares with two figures. */
struct normal {
    double square[2], both, more[2];
};

/* Solves it; what the sums do not tell apart, or has no sense (a core that is faster for others),
 * is one figure. */
static void solve(const struct normal *sum, double falls[2])
{
    double det = sum->square[0] * sum->square[1] - sum->both * sum->both;

    falls[0] = det > 0 ? (sum->more[0] * sum->square[1] - sum->more[1] * sum->both) / det : -1;
    falls[1] = det > 0 ? (sum->more[1] * sum->square[0] - sum->more[0] * sum->both) / det : 0;
    for (size_t i = 0; i < 2; i++)
        if (falls[i] < 0) {
            falls[i] = 0;
            falls[1 - i] = sum->square[1 - i] > 0 ? sum->more[1 - i] / sum->square[1 - i] : 0;
            return;
        }
}

void eval_clock_fit(const struct eval_set *set, const double *works, const double *predicted,
                    const double *seen, double *matrix)
{
    size_t n = set->apps.n;
    struct normal sum = {0};
    double falls[2], part[2];

    for (size_t at = 0; at < n * n; at++) {
        lines_of(set, works, at, part);
        for (size_t i = 0; !isnan(seen[at]) && i < 2; i++) {
            sum.square[i] += part[i] * part[i];
            sum.more[i] += part[i] * (seen[at] - predicted[at]);
            sum.both += i ? part[0] * part[1] : 0;
        }
    }
    solve(&sum, falls);
    for (size_t at = 0; at < n * n; at++) {
        lines_of(set, works, at, part);
        matrix[at] = predicted[at] + part[0] * falls[0] + part[1] * falls[1];
    }
}
