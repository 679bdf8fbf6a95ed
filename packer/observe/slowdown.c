/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slowdown - see slowdown.h */
#include "packer/observe/slowdown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/array.h"
#include "packer/observe/beside.h"
#include "packer/observe/learn.h"
#include "packer/observe/spell.h"
#include "packer/profiles/profiles.h"
#include "packer/steps/pairs.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"

#define SETS_MAX 8 /* of neighbours that are kept for the store; the oldest gives way */
#define SAVE_EVERY_S 300
#define BY_ITSELF                                                                                  \
    3 /* windows since anybody came or left, beyond which a phase is the program's own:            \
         it takes two windows to see one, and the one of the arrival is held back */
#define MODEL_ERROR                                                                                \
    0.5 /* of a predicted slowdown, that a change from it to another is measured against */
#define CLEAR 0.015 /* standard deviation of a measured slowdown that needs no further window */

/* What was measured beside the same neighbours, and is not in the store. */
struct set {
    struct pair *pair;       /* who: its figures are not used */
    double sum, weight;      /* of the slowdowns, each by one over its variance; of these */
    double windows, seconds; /* of counting */
    double last_s, saved_s;  /* CLOCK_MONOTONIC of its last measurement, of its last saving */
    bool counted;            /* as a run, in the store */
};

struct step_sets {
    uint64_t standing; /* of the last window (beside_standing) */
    unsigned since;    /* windows that it has been so */
    struct spell before, now;
    size_t n, room;
    struct set *set; /* [n] */
};

/* ---- sets ---- */

/* Bytes of a pair with n beside it. */
static size_t pair_size(size_t n)
{
    return offsetof(struct pair, beside) + n * sizeof(struct pair_part);
}

static struct pair *pair_copy(const struct pair *pair)
{
    size_t size = pair_size(pair->n);
    struct pair *copy = malloc(size);

    return copy ? memcpy(copy, pair, size) : NULL;
}

/* What was measured goes to the store. */
static void save(const struct packer *packer, struct set *set, double now_s)
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

static void drop_set(struct step_sets *sets, size_t i)
{
    free(sets->set[i].pair);
    memmove(&sets->set[i], &sets->set[i + 1], (sets->n - i - 1) * sizeof(sets->set[0]));
    sets->n--;
}

/* All sets are saved, and forgotten. */
static void finish_sets(const struct packer *packer, struct step *step, double now_s)
{
    struct step_sets *sets = step->counts->sets;

    for (size_t i = 0; i < sets->n; i++)
        save(packer, &sets->set[i], now_s);
    while (sets->n)
        drop_set(sets, sets->n - 1);
}

static bool same_set(const struct pair *a, const struct pair *b)
{
    return a->self.program == b->self.program && a->self.cores == b->self.cores && a->n == b->n &&
           memcmp(a->beside, b->beside, a->n * sizeof(a->beside[0])) == 0;
}

static size_t oldest(const struct step_sets *sets)
{
    size_t found = 0;

    for (size_t i = 1; i < sets->n; i++)
        if (sets->set[i].last_s < sets->set[found].last_s)
            found = i;
    return found;
}

/* Returns the set of these neighbours, which may be new; NULL when out of memory. */
static struct set *set_of(const struct packer *packer, struct step *step, const struct pair *pair,
                          double now_s)
{
    struct step_sets *sets = step->counts->sets;
    struct pair *copy;

    for (size_t i = 0; i < sets->n; i++)
        if (same_set(sets->set[i].pair, pair))
            return &sets->set[i];
    if (sets->n == SETS_MAX) {
        size_t gone = oldest(sets);

        save(packer, &sets->set[gone], now_s);
        drop_set(sets, gone);
    }
    copy = pair_copy(pair);
    if (!copy || array_grow(&sets->set, &sets->room, sets->n + 1, sizeof(*sets->set)) < 0) {
        free(copy);
        return NULL;
    }
    sets->set[sets->n] = (struct set){.pair = copy, .saved_s = now_s};
    return &sets->set[sets->n++];
}

/* ---- what a change has shown ---- */

/* What was measured of a step beside the neighbours of a spell. */
struct measured {
    const struct spell *of, *against;
    double log; /* of (1 + its slowdown there) / (1 + that beside the others) */
    double error, windows;
};

/* Adds a slowdown that was measured to what the store gets. */
static void keep(const struct packer *packer, struct step *step, const struct pair *pair)
{
    double weight = 1 / (pair->error * pair->error), now_s = clock_s();
    struct set *set = set_of(packer, step, pair, now_s);

    if (!set)
        return;
    set->sum += pair->slowdown * weight;
    set->weight += weight;
    set->windows += pair->windows;
    set->seconds += pair->windows * step->counts->window.seconds;
    set->last_s = now_s;
    if (now_s - set->saved_s >= SAVE_EVERY_S)
        save(packer, set, now_s);
}

/* Takes one slowdown that was measured to who predicts, and to the store. */
static void tell(const struct packer *packer, struct step *step, const struct measured *measured)
{
    struct program *program = &packer->steps->programs.program[step->program];
    const struct spell *against = measured->against;
    double other = 0, doubt = 0;
    struct pair pair = {0};

    if (against->pair && !(against->predictions > 0))
        return;
    if (against->pair) {
        other = against->predicted / against->predictions;
        doubt = MODEL_ERROR * other / (1 + other);
    }
    memcpy(&pair, measured->of->pair, pair_size(measured->of->pair->n));
    pair.slowdown = (1 + other) * exp(measured->log) - 1;
    pair.error = (1 + pair.slowdown) * hypot(measured->error, doubt);
    pair.windows = measured->windows;
    pair.age_s = 0;
    pairs_put(&packer->steps->pairs, &pair);
    program->windows += pair.windows;
    keep(packer, step, &pair);
}

/* The spell that is now, against the one before: each tells of the other. */
static void compare(const struct packer *packer, struct step *step)
{
    struct step_sets *sets = step->counts->sets;
    struct spell *before = &sets->before, *now = &sets->now;
    const struct program *program = &packer->steps->programs.program[step->program];
    struct measured measured = {.of = now, .against = before};

    if (now->compared || now->n == 0 || before->n == 0)
        return;
    now->compared = true;
    measured.log = spell_step(before, now, &program->scatter, &measured.error);
    measured.windows = fmin((double)now->n, SPELL_AFTER);
    if (now->pair)
        tell(packer, step, &measured);
    measured.of = before;
    measured.against = now;
    measured.log = -measured.log;
    measured.windows = fmin((double)before->n, SPELL_BEFORE);
    if (before->pair)
        tell(packer, step, &measured);
}

/* Others stand beside the step, or nobody knows who. */
static void turn_over(const struct packer *packer, struct step *step)
{
    struct step_sets *sets = step->counts->sets;

    compare(packer, step);
    if (sets->now.n == 0)
        return;
    spell_end(&sets->before);
    sets->before = sets->now;
    sets->now = (struct spell){0};
}

/* ---- a window ---- */

static void add_solo(struct step_counts *counts)
{
    for (size_t i = 0; i < SOLO_RATES; i++) {
        rate_add(&counts->solo[i], counts->window.x[i], counts->window.y[i]);
        rate_forget(&counts->solo[i], PHASE_WINDOWS);
    }
}

/* Is what a change has cost known so well that it can be told at once? */
static bool is_clear(const struct step *step, const struct program *program)
{
    const struct step_sets *sets = step->counts->sets;
    double error = INFINITY;

    if (sets->before.n > 0)
        spell_step(&sets->before, &sets->now, &program->scatter, &error);
    return error <= CLEAR;
}

/* Takes a window beside these neighbours (NULL: nobody) in. */
static void add_window(const struct packer *packer, struct step *step, const struct pair *pair)
{
    const struct last_window *window = &step->counts->window;
    double predicted = isnan(step->slowdown.now) ? step->place.predicted : step->slowdown.now;
    double speed = log(window->y[SOLO_SPEED] / window->x[SOLO_SPEED]);
    struct step_sets *sets = step->counts->sets;
    struct spell *now = &sets->now;

    if (now->n > 0 && (pair ? !now->pair || !same_set(now->pair, pair) : now->pair != NULL))
        turn_over(packer, step);
    if (!isfinite(speed) || (now->n == 0 && pair && !(now->pair = pair_copy(pair))))
        return;
    spell_add(now, speed, pair ? predicted : NAN,
              &packer->steps->programs.program[step->program].scatter);
    if (!now->compared &&
        (now->n == SPELL_AFTER || is_clear(step, &packer->steps->programs.program[step->program])))
        compare(packer, step);
}

/* Follows who stands beside the step. Returns whether it was the same ones all through the window.
 */
static bool follow(struct step_sets *sets, uint64_t standing)
{
    sets->since = sets->standing == standing ? sets->since + 1 : 0;
    sets->standing = standing;
    return sets->since > 0;
}

static struct step_sets *sets_of(struct step_counts *counts)
{
    if (!counts->sets)
        counts->sets = calloc(1, sizeof(*counts->sets));
    return counts->sets;
}

/* The i-th live step. */
static void take_window(const struct packer *packer, const struct beside *beside, struct step *step,
                        size_t i)
{
    struct step_counts *counts = step->counts;
    struct step_sets *sets = sets_of(counts);
    struct pair pair;
    bool same;

    if (!sets)
        return;
    same = follow(sets, beside_standing(beside, i));
    if (counts->window.changed && sets->since > BY_ITSELF && !beside_changed(beside, i)) {
        counts->behaviours++;
        memset(counts->solo, 0, sizeof(counts->solo));
    }
    if (counts->window.alone)
        add_solo(counts);
    if (!same || step->program == PROGRAM_NONE)
        return;
    if (counts->window.alone)
        add_window(packer, step, NULL);
    else if (beside_pair(beside, i, &pair) == 1)
        add_window(packer, step, &pair);
}

void slowdown_windows(const struct packer *packer, const struct windows *windows)
{
    struct beside *beside = windows->n ? beside_new(packer, windows) : NULL;
    struct step *step;
    size_t i = 0;

    if (!beside)
        return;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (windows_have(windows, step))
            take_window(packer, beside, step, i);
        i++;
    }
    beside_free(beside);
}

/* ---- the step is over ---- */

void slowdown_learn(const struct packer *packer, struct step *step)
{
    if (!step->counts->sets || step->program == PROGRAM_NONE)
        return;
    compare(packer, step);
    finish_sets(packer, step, clock_s());
}

void slowdown_drop(struct step *step)
{
    struct step_sets *sets = step->counts->sets;

    while (sets && sets->n)
        drop_set(sets, sets->n - 1);
    if (sets) {
        spell_end(&sets->before);
        spell_end(&sets->now);
        free(sets->set);
    }
    free(sets);
    step->counts->sets = NULL;
}

/* ---- the stage ---- */

static void take_windows(const struct packer *packer, struct turn *turn)
{
    slowdown_windows(packer, &turn->windows);
}

const struct stage slowdown_stage = {.name = "slowdown", .turn = take_windows};
