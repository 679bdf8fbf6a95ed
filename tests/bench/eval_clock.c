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

double eval_clock_fit(size_t n, const double *works, const double *predicted, const double *seen)
{
    double more = 0, square = 0;

    for (size_t at = 0; at < n * n; at++)
        if (!isnan(seen[at])) {
            more += works[at / n] * (seen[at] - predicted[at]);
            square += works[at / n] * works[at / n];
        }
    return square > 0 ? more / square : 0;
}
