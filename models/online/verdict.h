/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verdict - what a program lost on fewer cores, as measured: its speed on them against that on all
 * of its cores, in the same phase and beside the same neighbours.
 *
 * Speed is instructions per second of the whole program. A phase is known by cache misses and bytes
 * per million instructions, which change little with the cores (opticore.h); of those that are
 * alike a window belongs to the nearest. What was measured beside others is kept apart by `who`, a
 * number that the caller makes of them.
 *
 * A program that never had all its cores in this run may be told what it did on them in an earlier
 * one. That counts where its phase looks the same and nobody is beside it (who 0), as long as this
 * run has not shown it itself.
 *
 * The loss is 1 - speed on fewer / speed on all, its error that of the two means. It is above a
 * bound when it is so by more than Student's quantile of the error (97.5 %, one-sided), of
 * VERDICT_WINDOWS windows of either kind at least. A program that waits by spinning counts as if it
 * worked: its loss comes out too large, and it has its cores back sooner.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_ONLINE_VERDICT_H
#define BERTH_MODELS_ONLINE_VERDICT_H

#include <stdint.h>

#include "models/online/opticore.h"
#include "models/online/rate.h"

#define VERDICT_PHASES 8    /* the one that was seen longest ago gives way */
#define VERDICT_WINDOWS 4   /* of either kind */
#define VERDICT_NOISE 0.005 /* of a window's speed: clocks and counts are no better */

struct verdict_phase {
    uint64_t who, seen;
    struct rate look[OPTICORE_RATES]; /* per million instructions */
    struct rate full, fewer;          /* instructions per second */
};

/* What a program did on all of its cores, alone. */
struct verdict_speed {
    struct opticore_signature look;
    double instructions_per_s; /* of the whole program */
    double error;              /* of that, relative: standard error */
    double windows;            /* 0: it is not known */
};

struct verdict { /* all zero: nothing was seen */
    size_t n;
    uint64_t seen;
    const struct verdict_phase *now; /* of the last window; NULL: none */
    struct verdict_phase phase[VERDICT_PHASES];
    struct verdict_speed told; /* of an earlier run */
};

struct verdict_window {
    double seconds, instructions, misses, bytes; /* of the whole program; NAN: not known */
    uint64_t who;
};

/* Takes in a window on all cores, or on fewer. One that says nothing of speed and phase is none. */
void verdict_window(struct verdict *verdict, const struct verdict_window *window, bool fewer);

/* The fewer cores are others now: what was measured on those before says nothing of them. */
void verdict_resized(struct verdict *verdict);

/* Returns what the program did on all its cores, alone, in the present phase; windows 0: it has not
 * shown that often enough. */
struct verdict_speed verdict_speed(const struct verdict *verdict);

/* Returns the loss in the present phase, with its standard error; NAN: it is not known. */
double verdict_loss(const struct verdict *verdict, double *error);

/* Says whether the loss is above that part of the speed, beyond doubt. */
bool verdict_exceeds(const struct verdict *verdict, double bound);

/* Returns what the present phase looks like; NAN where nothing was seen. */
struct opticore_signature verdict_signature(const struct verdict *verdict);

#endif
