/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock - how fast the cores of a package run when so many of them are busy, and what a program
 * loses by that.
 *
 * With turbo a core alone runs faster than a core whose neighbours are busy, too. The part of a
 * program's time in which its core works grows as the clock falls; the part in which it waits for
 * memory does not. This is no pressure of a neighbour on caches or memory: no other cache of the
 * same package mends it.
 *
 * Pure arithmetic: no I/O, no clock of a machine, no globals. */
#ifndef BERTH_MODELS_SLOWDOWN_CLOCK_H
#define BERTH_MODELS_SLOWDOWN_CLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* Part of its waiting for memory by which a program's time does not go with the clock: of lbm, 0.52
 * (berth-models(7), CONTEND). */
#define CLOCK_UNCLOCKED 0.55

/* The clock of a package with one, half and all of its cores busy. Not known: NAN or 0, and no
 * cores. */
struct clock_curve {
    double one_ghz, half_ghz, all_ghz;
    size_t cores; /* of a package */
};

/* Returns whether the curve says anything: its cores and both of its ends are known. */
bool clock_is_known(const struct clock_curve *curve);

/* Returns the clock with that many busy cores in the package, GHz: between the points that were
 * measured a straight line, outside of them the nearest one; NAN where the curve is not known. */
double clock_at(const struct clock_curve *curve, double busy);

/* Returns the part of its time that goes with the clock, of a program that waits for memory in that
 * part of it (0 to 1). */
double clock_works(double waits);

/* Returns by what fraction of its time alone a program takes longer because `busy` cores of its
 * package are busy and not `alone` of them, where its core works for that part (0 to 1) of its time
 * alone; negative where fewer are busy, 0 where the curve is not known. */
double clock_slowdown(const struct clock_curve *curve, double works, double alone, double busy);

#endif
