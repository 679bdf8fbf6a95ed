/* SPDX-License-Identifier: GPL-2.0-or-later */
/* improve_offers - the candidates of improve.h: of all changes of one, two, three and several units
 * those that are worth most by the guess. Only for improve.c.
 *
 * Most are pairs, and there are many: they are looked at in descending order of what they can be
 * worth at most, until no other can be among the best. */
#ifndef BERTH_MODELS_PLACING_IMPROVE_OFFERS_H
#define BERTH_MODELS_PLACING_IMPROVE_OFFERS_H

#include "models/placing/improve_guess.h"

#define OFFERS_LEAST 1e-9 /* that a change is worth: less is rounding */
#define OFFERS_RINGS 16   /* pairs that a third unit is sought for */

/* The begin of a ring: u takes v's place, and v has none. */
struct offers_ring {
    double value;
    size_t u, v;
};

/* A cache with free cores, and what it is worth to a unit to stand there. */
struct offers_away {
    double value;
    size_t cache;
};

/* A unit, and its part of what a change of two units can be worth at most. */
struct offers_rated {
    double most;
    size_t unit;
};

struct offers {
    const struct improve *problem;
    struct guess guess;
    const size_t *start;          /* [n] where the units stood at first */
    size_t moved;                 /* units that stand elsewhere now */
    struct offers_rated *rated;   /* [n] in descending order */
    struct offers_rated *crowded; /* [n] the same of what leaving their places is worth */
    size_t tries;                 /* the most that there may be of the first, */
    size_t nbest, nring;          /* how many there are of: */
    struct guess_change best[IMPROVE_TRIES]; /* candidates by descending value */
    struct offers_ring ring[OFFERS_RINGS];   /* the same */
    bool any_free;                           /* a cache has a core that nobody uses */
    struct offers_away *away;                /* [2 * n] the best two for each unit, if any_free */
};

/* Prepares for units that stand so; `start` stays the caller's, and as it is. Returns 0; -1 with
 * errno EINVAL (improve_solve) or ENOMEM. offers_free frees it in any case. */
int offers_init(struct offers *offers, const struct improve *problem, const size_t *start);
void offers_free(struct offers *offers);

/* Finds the candidates, as the units stand now: offers->best. */
void offers_collect(struct offers *offers);

/* Returns how many units stand elsewhere than at the start, after the change. */
size_t offers_moved_after(const struct offers *offers, const struct guess_change *change);

#endif
