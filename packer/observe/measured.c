/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measured - see measured.h */
#include "packer/observe/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/observe/learn.h"
#include "packer/profiles/profiles.h"
#include "packer/steps/packer.h"
#include "packer/steps/pairs.h"
#include "packer/steps/program.h"

#define SETS_MAX 8 /* of neighbours; the oldest gives way */
#define SAVE_EVERY_S 300

/* What was measured beside the same neighbours, and is not in the store. */
struct measured_set {
    struct pair *pair;       /* who: its figures are not used */
    double sum, weight;      /* of the slowdowns, each by one over its variance; of these */
    double windows, seconds; /* of counting */
    double last_s, saved_s;  /* CLOCK_MONOTONIC of its last measurement, of its last saving */
    bool counted;            /* as a run, in the store */
};

/* What was measured goes to the store. */
static void save(const struct packer *packer, struct measured_set *set, double now_s)
{
    struct profile_pair row = {
        .machine = packer->world.machine_type, .runs = !set->counted, .measured_at = time(NULL)};
    const struct program *program = packer->steps->programs.program;
    const struct pair *pair = set->pair;

    if (!learn_wanted(packer) || !(set->weight > 0))
        return;
    row.uid = program[pair->self.program].uid;
    row.key = program[pair->self.program].key;
    row.cores = pair->self.cores;
    row.n = pair->n;
    for (size_t i = 0; i < pair->n; i++)
        row.beside[i] =
            (struct profile_beside){program[pair->beside[i].program].key, pair->beside[i].cores,
                                    program[pair->beside[i].program].uid};
    row.slowdown = set->sum / set->weight;
    row.error = 1 / sqrt(set->weight);
    row.windows = set->windows;
    row.seconds = set->seconds;
    learn_put_pair(packer->state->learner, &row);
    set->sum = set->weight = set->windows = set->seconds = 0;
    set->saved_s = now_s;
    set->counted = true;
}

static void drop_set(struct measured *measured, size_t i)
{
    free(measured->set[i].pair);
    memmove(&measured->set[i], &measured->set[i + 1],
            (measured->n - i - 1) * sizeof(measured->set[0]));
    measured->n--;
}

static size_t oldest(const struct measured *measured)
{
    size_t found = 0;

    for (size_t i = 1; i < measured->n; i++)
        if (measured->set[i].last_s < measured->set[found].last_s)
            found = i;
    return found;
}

/* Returns the set of these neighbours, which may be new; NULL when out of memory. */
static struct measured_set *set_of(const struct packer *packer, struct measured *measured,
                                   const struct pair *pair, double now_s)
{
    struct pair *copy;

    for (size_t i = 0; i < measured->n; i++)
        if (pair_same(measured->set[i].pair, pair))
            return &measured->set[i];
    if (measured->n == SETS_MAX) {
        size_t gone = oldest(measured);

        save(packer, &measured->set[gone], now_s);
        drop_set(measured, gone);
    }
    copy = pair_copy(pair);
    if (!copy ||
        array_grow(&measured->set, &measured->room, measured->n + 1, sizeof(*measured->set)) < 0) {
        free(copy);
        return NULL;
    }
    measured->set[measured->n] = (struct measured_set){.pair = copy, .saved_s = now_s};
    return &measured->set[measured->n++];
}

void measured_add(const struct packer *packer, struct measured *measured, const struct pair *pair,
                  double window_s)
{
    double weight = 1 / (pair->error * pair->error), now_s = clock_s();
    struct measured_set *set = set_of(packer, measured, pair, now_s);

    if (!set)
        return;
    set->sum += pair->slowdown * weight;
    set->weight += weight;
    set->windows += pair->windows;
    set->seconds += pair->windows * window_s;
    set->last_s = now_s;
    if (now_s - set->saved_s >= SAVE_EVERY_S)
        save(packer, set, now_s);
}

void measured_drop(struct measured *measured)
{
    while (measured->n)
        drop_set(measured, measured->n - 1);
    free(measured->set);
    *measured = (struct measured){0};
}

void measured_save(const struct packer *packer, struct measured *measured)
{
    for (size_t i = 0; i < measured->n; i++)
        save(packer, &measured->set[i], clock_s());
    measured_drop(measured);
}
