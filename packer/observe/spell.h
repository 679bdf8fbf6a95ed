/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spell - windows of a step one after the other beside the same neighbours, and how its speed
 * changed when they did.
 *
 * A program's speed wobbles by itself: by its input, its phases, from window to window. None of
 * these knows when a neighbour comes. So what neighbours cost is a step in the speed at that
 * moment, between the last windows before and the first after it, and its error is by how much the
 * speed of this program changes over such a time while nobody comes or goes. */
#ifndef BERTH_OBSERVE_SPELL_H
#define BERTH_OBSERVE_SPELL_H

#include <stdbool.h>
#include <stddef.h>

#define SPELL_BEFORE 6 /* last windows before a change that are compared, at most, */
#define SPELL_AFTER 3  /* and first ones after it */

struct pair;
struct program_scatter;

struct spell {
    struct pair *pair; /* who: NULL: nobody */
    size_t n;          /* windows; 0: there is none */
    double
        speed[2 * SPELL_AFTER]; /* logarithms of the last ones, the i-th at i % (2 * SPELL_AFTER) */
    double predicted, predictions; /* sum of the predicted slowdowns, and how many */
    double modelled;               /* sum of those that the model alone made */
    bool compared;                 /* with the spell before it */
};

/* Takes a window in, with the logarithm of its speed, the slowdown that was predicted (NAN: none
 * was), and the one by the model alone, and what it says of the program's scatter. */
void spell_add(struct spell *spell, double speed, double predicted, double modelled,
               struct program_scatter *scatter);

/* Ends a spell, and frees what it has. */
void spell_end(struct spell *spell);

/* Fills in by how much that has grown inside of a spell, to its last n windows (1 to SPELL_AFTER)
 * from those before them, and its standard deviation. Returns false where there are too few. */
bool spell_drift(const struct spell *spell, size_t n, const struct program_scatter *scatter,
                 double *grown, double *error);

/* Returns by how much the logarithm of the time for the same work grew from one spell to the next,
 * and fills in its standard deviation. Both have windows. */
double spell_step(const struct spell *before, const struct spell *after,
                  const struct program_scatter *scatter, double *error);

#endif
