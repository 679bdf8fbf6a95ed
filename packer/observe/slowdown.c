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
#include "packer/profiles/profiles.h"
#include "packer/steps/pairs.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"

#define SETS_MAX 8   /* of neighbours that a step's windows are kept of; the oldest gives way */
#define TELL_MOST 64 /* windows after which a set is told of again, at the latest */
#define SAVE_EVERY_S 300
#define BY_ITSELF                                                                                  \
    3 /* windows since anybody came or left, beyond which a phase is the program's own:            \
         it takes two windows to see one, and the one of the arrival is held back */
#define WINDOW_NOISE                                                                               \
    0.05                   /* of one window's speed, where its deviation is not known: as much as  \
                              others may be at work in one that is alone */
#define WINDOW_LEAST 0.005 /* of one whose deviation is known: clocks and counts are no better */
#define MODEL_ERROR                                                                                \
    0.07 /* of a predicted slowdown: the standard deviation that goes with a median                \
            error of 4.7 points, contend's on pairs of real programs of which only                 \
            counters are known (man berth-models) */

/* Windows beside the same neighbours. */
struct set {
    struct pair *pair;          /* who: its figures are not used */
    struct rate fresh, unsaved; /* instructions per CPU second: not told yet, not in the store */
    struct rate all;
    double predicted, predictions; /* sum of the predicted slowdowns, and how many */
    double told;                   /* windows */
    double last_s, saved_s;        /* CLOCK_MONOTONIC of its last window, of its last saving */
    bool counted;                  /* as a run, in the store */
};

struct step_sets {
    uint64_t standing;   /* of the last window (beside_standing) */
    unsigned since;      /* windows that it has been so */
    bool asked;          /* the store for the speed alone */
    double speed, error; /* alone, of the store: instructions per CPU second, and the relative
                            standard deviation; NAN: not known */
    size_t n, room;
    struct set *set; /* [n] */
};

/* A speed and its relative standard deviation. */
struct speed {
    double mean, error;
};

/* ---- the speed alone ---- */

/* The relative standard deviation of one window's speed. */
static double window_noise(const struct step *step)
{
    const struct rate *rate = &step->counts->phase.rate[RATE_CORE_SPEED];
    double deviation = rate_deviation(rate) / rate_mean(rate);

    return rate->n >= PHASE_SETTLED && isfinite(deviation) ? fmax(deviation, WINDOW_LEAST)
                                                           : WINDOW_NOISE;
}

/* A mean of windows: by how they vary, where there are enough of them. */
static struct speed speed_of(const struct step *step, const struct rate *rate)
{
    struct speed speed = {rate_mean(rate), window_noise(step) / sqrt(rate->n)};

    if (rate->n >= PHASE_SETTLED)
        speed.error = fmax(speed.error, rate_deviation(rate) / speed.mean / sqrt(rate->n));
    return speed;
}

/* Asks the store, once, for the program alone on such a machine, with these arguments and as many
 * tasks and CPUs. */
static void ask_store(const struct packer *packer, struct step *step)
{
    struct step_sets *sets = step->counts->sets;
    struct profile_estimate *known;
    struct profile_sample sample, like;
    struct berth_error err;

    if (sets->asked)
        return;
    sets->asked = true;
    program_sample_init(packer, step, "", &like);
    if (program_sample(packer, step, PROFILE_INSTRUCTIONS_PER_S, &sample, &err) != 1 ||
        sample.co_run || strcmp(sample.shape, like.shape) != 0 ||
        strcmp(sample.geometry, like.geometry) != 0)
        return;
    known = &sample.rate[PROFILE_INSTRUCTIONS_PER_S];
    if (!(known->mean > 0))
        return;
    sets->speed = known->mean;
    sets->error = isnan(known->error) ? WINDOW_NOISE : known->error / 1.96 / known->mean;
}

/* What the predictions of its slowdowns beside different neighbours come to. */
static bool by_predictions(const struct step *step, struct speed *alone)
{
    const struct step_sets *sets = step->counts->sets;
    double sum = 0, weight = 0;
    size_t n = 0;

    for (size_t i = 0; i < sets->n; i++) {
        const struct set *set = &sets->set[i];
        double windows = fmin(set->all.n, TELL_MOST);

        if (!(set->predictions > 0) || !(set->all.n > 0))
            continue;
        sum += windows * rate_mean(&set->all) * (1 + set->predicted / set->predictions);
        weight += windows;
        n++;
    }
    if (n < 2)
        return false;
    *alone = (struct speed){sum / weight, MODEL_ERROR};
    return true;
}

static bool alone_of(const struct step *step, struct speed *alone)
{
    const struct rate *solo = &step->counts->solo[SOLO_SPEED];
    const struct step_sets *sets = step->counts->sets;

    if (solo->n > 0) {
        *alone = speed_of(step, solo);
        return true;
    }
    if (!isnan(sets->speed)) {
        *alone = (struct speed){sets->speed, hypot(sets->error, window_noise(step))};
        return true;
    }
    return by_predictions(step, alone);
}

/* ---- what a set of neighbours has shown ---- */

/* Bytes of a pair with n beside it. */
static size_t pair_size(size_t n)
{
    return offsetof(struct pair, beside) + n * sizeof(struct pair_part);
}

/* Fills in the pair's figures from these windows. Returns false where they tell nothing. */
static bool measure(const struct step *step, const struct set *set, const struct rate *windows,
                    struct pair *pair)
{
    struct speed alone, beside;

    if (!(windows->n > 0) || !alone_of(step, &alone))
        return false;
    beside = speed_of(step, windows);
    *pair = (struct pair){0};
    memcpy(pair, set->pair, pair_size(set->pair->n));
    pair->slowdown = alone.mean / beside.mean - 1;
    pair->error = (1 + pair->slowdown) * hypot(alone.error, beside.error);
    pair->windows = windows->n;
    pair->age_s = 0;
    return isfinite(pair->slowdown) && pair->slowdown > -1 && pair->error > 0;
}

static void tell(const struct packer *packer, const struct step *step, struct set *set)
{
    struct program *program = &packer->steps->programs.program[step->program];
    struct pair pair;

    if (!measure(step, set, &set->fresh, &pair))
        return;
    pairs_put(&packer->steps->pairs, &pair);
    program->windows += pair.windows;
    set->told += set->fresh.n;
    set->fresh = (struct rate){0};
}

static void save(const struct packer *packer, const struct step *step, struct set *set,
                 double now_s)
{
    struct profile_pair row = {
        .machine = packer->world.machine_type, .runs = !set->counted, .measured_at = time(NULL)};
    const struct program *program = packer->steps->programs.program;
    struct pair pair;

    if (!learn_wanted(packer) || !measure(step, set, &set->unsaved, &pair))
        return;
    row.uid = program[pair.self.program].uid;
    row.key = program[pair.self.program].key;
    row.cores = pair.self.cores;
    row.n = pair.n;
    for (size_t i = 0; i < pair.n; i++)
        row.beside[i] =
            (struct profile_beside){program[pair.beside[i].program].key, pair.beside[i].cores,
                                    program[pair.beside[i].program].uid};
    row.slowdown = pair.slowdown;
    row.error = pair.error;
    row.windows = pair.windows;
    row.seconds = set->unsaved.x;
    learn_put_pair(packer->state->learner, &row);
    set->unsaved = (struct rate){0};
    set->saved_s = now_s;
    set->counted = true;
}

/* ---- sets ---- */

static void drop_set(struct step_sets *sets, size_t i)
{
    free(sets->set[i].pair);
    memmove(&sets->set[i], &sets->set[i + 1], (sets->n - i - 1) * sizeof(sets->set[0]));
    sets->n--;
}

/* All sets are told of and saved, and forgotten. */
static void finish_sets(const struct packer *packer, struct step *step, double now_s)
{
    struct step_sets *sets = step->counts->sets;

    for (size_t i = 0; i < sets->n; i++) {
        tell(packer, step, &sets->set[i]);
        save(packer, step, &sets->set[i], now_s);
    }
    while (sets->n)
        drop_set(sets, sets->n - 1);
}

static bool same_set(const struct pair *a, const struct pair *b)
{
    return a->self.cores == b->self.cores && a->n == b->n &&
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
    size_t size = pair_size(pair->n), gone;
    struct step_sets *sets = step->counts->sets;
    struct pair *copy;

    for (size_t i = 0; i < sets->n; i++)
        if (same_set(sets->set[i].pair, pair))
            return &sets->set[i];
    if (sets->n == SETS_MAX) {
        gone = oldest(sets);
        tell(packer, step, &sets->set[gone]);
        save(packer, step, &sets->set[gone], now_s);
        drop_set(sets, gone);
    }
    copy = malloc(size);
    if (!copy || array_grow(&sets->set, &sets->room, sets->n + 1, sizeof(*sets->set)) < 0) {
        free(copy);
        return NULL;
    }
    memcpy(copy, pair, size);
    sets->set[sets->n] = (struct set){.pair = copy, .saved_s = now_s};
    return &sets->set[sets->n++];
}

/* ---- a window ---- */

static void add_solo(struct step_counts *counts)
{
    for (size_t i = 0; i < SOLO_RATES; i++) {
        rate_add(&counts->solo[i], counts->window.x[i], counts->window.y[i]);
        rate_forget(&counts->solo[i], PHASE_WINDOWS);
    }
}

static void add_window(const struct packer *packer, struct step *step, const struct pair *pair,
                       double now_s)
{
    const struct last_window *window = &step->counts->window;
    double predicted = isnan(step->slowdown.now) ? step->place.predicted : step->slowdown.now;
    struct set *set = set_of(packer, step, pair, now_s);

    if (!set)
        return;
    rate_add(&set->fresh, window->x[SOLO_SPEED], window->y[SOLO_SPEED]);
    rate_add(&set->unsaved, window->x[SOLO_SPEED], window->y[SOLO_SPEED]);
    rate_add(&set->all, window->x[SOLO_SPEED], window->y[SOLO_SPEED]);
    rate_forget(&set->all, PHASE_WINDOWS);
    if (!isnan(predicted)) {
        set->predicted += predicted;
        set->predictions++;
    }
    set->last_s = now_s;
    if (set->fresh.n >= fmin(fmax(set->told, 1), TELL_MOST))
        tell(packer, step, set);
    if (now_s - set->saved_s >= SAVE_EVERY_S)
        save(packer, step, set, now_s);
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
    if (!counts->sets && (counts->sets = calloc(1, sizeof(*counts->sets))))
        counts->sets->speed = counts->sets->error = NAN;
    return counts->sets;
}

/* The i-th live step. */
static void take_window(const struct packer *packer, const struct beside *beside, struct step *step,
                        size_t i, double now_s)
{
    struct step_counts *counts = step->counts;
    struct step_sets *sets = sets_of(counts);
    struct pair pair;
    bool same;

    if (!sets)
        return;
    same = follow(sets, beside_standing(beside, i));
    if (counts->window.changed && sets->since > BY_ITSELF && !beside_changed(beside, i)) {
        finish_sets(packer, step, now_s);
        counts->behaviours++;
        memset(counts->solo, 0, sizeof(counts->solo));
    }
    if (counts->window.alone) {
        add_solo(counts);
    } else if (same && beside_pair(beside, i, &pair) == 1) {
        ask_store(packer, step);
        add_window(packer, step, &pair, now_s);
    }
}

void slowdown_windows(const struct packer *packer, const struct windows *windows)
{
    struct beside *beside = windows->n ? beside_new(packer, windows) : NULL;
    double now_s = clock_s();
    struct step *step;
    size_t i = 0;

    if (!beside)
        return;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (windows_have(windows, step))
            take_window(packer, beside, step, i, now_s);
        i++;
    }
    beside_free(beside);
}

/* ---- the step is over ---- */

void slowdown_learn(const struct packer *packer, struct step *step)
{
    if (step->counts->sets && step->program != PROGRAM_NONE)
        finish_sets(packer, step, clock_s());
}

void slowdown_drop(struct step *step)
{
    struct step_sets *sets = step->counts->sets;

    while (sets && sets->n)
        drop_set(sets, sets->n - 1);
    if (sets)
        free(sets->set);
    free(sets);
    step->counts->sets = NULL;
}

/* ---- the stage ---- */

static void take_windows(const struct packer *packer, struct turn *turn)
{
    slowdown_windows(packer, &turn->windows);
}

const struct stage slowdown_stage = {.name = "slowdown", .turn = take_windows};
