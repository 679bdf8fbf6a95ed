/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slowdown - see slowdown.h */
#include "packer/observe/slowdown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/slowdown/clock.h"
#include "packer/observe/beside.h"
#include "packer/observe/measured.h"
#include "packer/observe/spell.h"
#include "packer/steps/pairs.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"

#define BY_ITSELF                                                                                  \
    3 /* windows since anybody came or left, beyond which a phase is the program's own:            \
         it takes two windows to see one, and the one of the arrival is held back */
#define MODEL_ERROR                                                                                \
    0.5 /* of a predicted slowdown, that a change from it to another is measured against */
#define COMMON                                                                                     \
    0.02 /* standard deviation of what the machine does to all at a time, a fraction of their time \
          */
/* Windows: what is far for longer has not been on its way, and stays so. */
#define FAR_LONG 30
#define SURE 3      /* standard deviations from which it is what they show */
#define CLEAR 0.015 /* standard deviation of a measured slowdown that needs no further window */

/* What is known of a step. */
struct step_spells {
    uint64_t standing; /* of the last window (beside_standing) */
    unsigned since;    /* windows that it has been so */
    unsigned far;      /* windows that its memory has been far from it */
    struct spell before, now;
    bool clocked;             /* their speeds are at 1 GHz */
    struct measured measured; /* that is not in the store yet */
};

/* ---- what a change has shown ---- */

/* What a change says of the neighbours of one spell, against those of the other. */
struct change {
    const struct spell *of, *against;
    double log; /* of (1 + the slowdown there) / (1 + that beside the others) */
    double error, windows;
};

/* Fills in how much slower the step was predicted to be beside the neighbours of a spell, than
 * alone: `sum` is that of the predictions. Returns false where nobody has said. */
static bool expected(const struct spell *spell, double sum, double *slowdown)
{
    *slowdown = spell->pair ? sum / spell->predictions : 0;
    return !spell->pair || spell->predictions > 0;
}

static bool has_sibling(const struct spell *spell)
{
    return spell->pair && spell->pair->sibling;
}

/* Takes one slowdown that was measured to who predicts, and to the store. */
static void tell(const struct packer *packer, struct step *step, const struct change *change)
{
    struct program *program = &packer->steps->programs.program[step->program];
    struct pair pair;
    double other, doubt;

    if (!expected(change->against, change->against->predicted, &other))
        return;
    doubt = MODEL_ERROR * other / (1 + other);
    pair_take(&pair, change->of->pair);
    pair.slowdown = (1 + other) * exp(change->log) - 1;
    pair.error = (1 + pair.slowdown) * hypot(change->error, doubt);
    pair.windows = change->windows;
    pair.age_s = 0;
    pairs_put(&packer->steps->pairs, &pair);
    if (pair.sibling) /* the store has what neighbours on a cache cost */
        return;
    program->windows += pair.windows;
    measured_add(packer, &step->counts->spells->measured, &pair, step->counts->window.seconds);
}

/* Takes out of a change what those have seen at the same moment beside whom nobody has come or
 * gone: that is the machine's doing. It is normal about 0, with a deviation of COMMON, or as large
 * as they show where they are SURE of it. */
static void take_common(const struct packer *packer, const struct step *step, struct change *change)
{
    double precision = 0, sum = 0, grown, error, mean, variance, part;
    const struct step *other;

    TAILQ_FOREACH(other, &packer->steps->live, link)
    {
        const struct step_spells *spells = other->counts ? other->counts->spells : NULL;

        if (other == step || !spells || other->program == PROGRAM_NONE ||
            !spell_drift(&spells->now, (size_t)change->windows,
                         &packer->steps->programs.program[other->program].scatter, &grown, &error))
            continue;
        sum += grown / (error * error);
        precision += 1 / (error * error);
    }
    mean = precision > 0 ? sum / precision : 0;
    variance = mean * mean * precision > SURE * SURE ? mean * mean : COMMON * COMMON;
    part = precision / (precision + 1 / variance);
    change->log -= part * mean;
    change->error = hypot(change->error, sqrt(1 / (precision + 1 / variance)));
}

/* A change says whether neighbours matter, against what the model alone says of it: what was seen
 * has corrected the other predictions already. Not by who shares a core: that always matters. */
static void learn_null(const struct packer *packer, const struct change *change)
{
    double now, before;

    if (!has_sibling(change->of) && !has_sibling(change->against) &&
        expected(change->of, change->of->modelled, &now) &&
        expected(change->against, change->against->modelled, &before))
        null_test_add(&packer->steps->null_test, log((1 + now) / (1 + before)), change->log,
                      change->error);
}

/* The spell that is now, against the one before: each tells of the other. */
static void compare(const struct packer *packer, struct step *step)
{
    struct step_spells *spells = step->counts->spells;
    struct spell *before = &spells->before, *now = &spells->now;
    const struct program *program = &packer->steps->programs.program[step->program];
    struct change change = {.of = now, .against = before};

    if (now->compared || now->n == 0 || before->n == 0)
        return;
    now->compared = true;
    change.log = spell_step(before, now, &program->scatter, &change.error);
    change.windows = fmin((double)now->n, SPELL_AFTER);
    take_common(packer, step, &change);
    learn_null(packer, &change);
    if (now->pair)
        tell(packer, step, &change);
    change.of = before;
    change.against = now;
    change.log = -change.log;
    change.windows = fmin((double)before->n, SPELL_BEFORE);
    if (before->pair)
        tell(packer, step, &change);
}

/* Others stand beside the step, or nobody knows who. */
static void turn_over(const struct packer *packer, struct step *step)
{
    struct step_spells *spells = step->counts->spells;

    compare(packer, step);
    if (spells->now.n == 0)
        return;
    spell_end(&spells->before);
    spells->before = spells->now;
    spells->now = (struct spell){0};
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
    const struct step_spells *spells = step->counts->spells;
    double error = INFINITY;

    if (spells->before.n > 0)
        spell_step(&spells->before, &spells->now, &program->scatter, &error);
    return error <= CLEAR;
}

/* Returns the logarithm of the speed in a window at a clock of 1 GHz: what the clock makes is no
 * neighbour's doing. At the clock that it had where nobody counted cycles. */
static double log_speed(const struct last_window *window)
{
    double speed = log(window->y[SOLO_SPEED] / window->x[SOLO_SPEED]);
    double waits = isnan(window->stalled) ? 0 : window->stalled;

    return window->clock_ghz > 0 ? speed - clock_works(waits) * log(window->clock_ghz) : speed;
}

/* Takes a window beside these neighbours (NULL: nobody) in. */
static void add_window(const struct packer *packer, struct step *step, const struct pair *pair)
{
    const struct last_window *window = &step->counts->window;
    double told = isnan(step->slowdown.now) ? step->place.predicted : step->slowdown.now;
    double predicted = told / null_test_factor(&packer->steps->null_test);
    double modelled = isnan(step->slowdown.model) ? predicted : step->slowdown.model;
    double speed = log_speed(window);
    struct step_spells *spells = step->counts->spells;
    struct spell *now = &spells->now;

    if (now->n == 0 && spells->before.n == 0)
        spells->clocked = window->clock_ghz > 0;
    if (now->n > 0 && (pair ? !now->pair || !pair_same(now->pair, pair) : now->pair != NULL))
        turn_over(packer, step);
    if (!isfinite(speed) || spells->clocked != (window->clock_ghz > 0) ||
        (now->n == 0 && pair && !(now->pair = pair_copy(pair))))
        return;
    spell_add(now, speed, pair ? predicted : NAN, modelled,
              &packer->steps->programs.program[step->program].scatter);
}

/* What the change to the spell that is now has shown is told once it is clear, or after
 * SPELL_AFTER windows; when all have taken their last window in. */
static void tell_change(const struct packer *packer, struct step *step)
{
    const struct step_spells *spells = step->counts ? step->counts->spells : NULL;

    if (!spells || spells->now.n == 0 || spells->now.compared || step->program == PROGRAM_NONE)
        return;
    if (spells->now.n >= SPELL_AFTER ||
        is_clear(step, &packer->steps->programs.program[step->program]))
        compare(packer, step);
}

/* Follows who stands beside the step. Returns whether it was the same ones all through the window.
 */
static bool follow(struct step_spells *spells, uint64_t standing)
{
    spells->since = spells->standing == standing ? spells->since + 1 : 0;
    spells->standing = standing;
    return spells->since > 0;
}

/* What was seen so far is no measure of what comes. */
static void begin_anew(struct step_spells *spells)
{
    spell_end(&spells->before);
    spell_end(&spells->now);
}

/* Was its memory on its way to it in the window? What that costs is no neighbour's doing. Where it
 * stays far, windows are compared with each other, and with none before. */
static bool is_followed(struct step_spells *spells, const struct step *step)
{
    unsigned was = spells->far;

    spells->far = step_counts_far(step) ? was + (was <= FAR_LONG) : 0;
    if ((was > FAR_LONG) != (spells->far > FAR_LONG))
        begin_anew(spells);
    return was <= FAR_LONG && was + spells->far > 0 && spells->far <= FAR_LONG;
}

static struct step_spells *spells_of(struct step_counts *counts)
{
    if (!counts->spells)
        counts->spells = calloc(1, sizeof(*counts->spells));
    return counts->spells;
}

/* The i-th live step. */
static void take_window(const struct packer *packer, const struct beside *beside, struct step *step,
                        size_t i)
{
    struct step_counts *counts = step->counts;
    struct step_spells *spells = spells_of(counts);
    struct pair pair;
    bool same;

    if (!spells)
        return;
    same = follow(spells, beside_standing(beside, i));
    if (counts->window.changed && spells->since > BY_ITSELF && !beside_changed(beside, i)) {
        counts->behaviours++;
        memset(counts->solo, 0, sizeof(counts->solo));
    }
    if (is_followed(spells, step))
        return;
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
    TAILQ_FOREACH(step, &packer->steps->live, link) tell_change(packer, step);
    beside_free(beside);
}

/* ---- the step is over ---- */

void slowdown_learn(const struct packer *packer, struct step *step)
{
    if (!step->counts->spells || step->program == PROGRAM_NONE)
        return;
    compare(packer, step);
    measured_save(packer, &step->counts->spells->measured);
}

void slowdown_drop(struct step *step)
{
    struct step_spells *spells = step->counts->spells;

    if (spells) {
        measured_drop(&spells->measured);
        spell_end(&spells->before);
        spell_end(&spells->now);
    }
    free(spells);
    step->counts->spells = NULL;
}

/* ---- the stage ---- */

static void take_windows(const struct packer *packer, struct turn *turn)
{
    slowdown_windows(packer, &turn->windows);
}

const struct stage slowdown_stage = {.name = "slowdown", .turn = take_windows};
