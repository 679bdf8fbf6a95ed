/* SPDX-License-Identifier: GPL-2.0-or-later */
/* phase - running averages of a program's rates, begun anew when the program does something else.
 *
 * The test. A window is off a rate's average when it lies off by more than `change` of the average,
 * by more than `least`, and, once the phase has PHASE_SETTLED windows, by more than
 * PHASE_DEVIATIONS standard deviations of its windows. Two windows in a row that are off the same
 * watched rate to the same side begin a new phase, which they are the first windows of. A single
 * one is held back until the next is known, and then counts like any other: an outlier is no phase,
 * but it is not lost. Normally distributed windows, however noisy, give a false alarm with odds of
 * 2e-9 a window and rate once the deviation is known well; with five windows, of 1e-4.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_ONLINE_PHASE_H
#define BERTH_MODELS_ONLINE_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/online/rate.h"

#define PHASE_RATES_MAX 32
#define PHASE_SETTLED 5
#define PHASE_DEVIATIONS 4
#define PHASE_WINDOWS 120 /* older windows fade out of the averages */

/* What one window saw: y[i] per x[i] is the i-th rate. Where x[i] is not above 0 the window says
 * nothing of it. */
struct phase_window {
    double x[PHASE_RATES_MAX], y[PHASE_RATES_MAX];
};

struct phase {
    size_t rates;
    uint32_t watched;    /* bit i: a change of rate i begins a phase */
    double change;       /* a fraction > 0 */
    const double *least; /* [rates], borrowed: smaller differences are nothing, in units of y/x */
    struct rate rate[PHASE_RATES_MAX]; /* since the phase began */
    uint64_t number;                   /* phases begun, from 1 */
    bool holds;                        /* a window is held back */
    struct phase_window held;
    signed char side[PHASE_RATES_MAX]; /* of the held one: -1 below, 1 above, 0 not off */
};

void phase_init(struct phase *phase, size_t rates, uint32_t watched, double change,
                const double *least);

/* Forgets the windows so far; the phase is still the same one. */
void phase_restart(struct phase *phase);

/* Takes in a window. Returns whether a new phase has begun with it and the one before it. */
bool phase_add(struct phase *phase, const struct phase_window *window);

#endif
