/* SPDX-License-Identifier: GPL-2.0-or-later */
/* improve_guess - where the units stand during a search of improve.h, and what changes are worth by
 * the guess: sums over pairs, kept up to date, so that a candidate costs a few additions. Only for
 * improve*.c. */
#ifndef BERTH_MODELS_PLACING_IMPROVE_GUESS_H
#define BERTH_MODELS_PLACING_IMPROVE_GUESS_H

#include <math.h>

#include "models/placing/improve.h"

#define GUESS_CHANGE_MAX 16 /* units that one candidate moves */

/* A candidate: units that go to other caches together. */
struct guess_change {
    double value; /* what it is worth by the guess: gain * horizon - price */
    size_t n;
    struct {
        size_t unit, to;
    } move[GUESS_CHANGE_MAX];
};

struct guess {
    const struct improve *problem;
    size_t *cache_of;             /* [n] where the units stand now */
    size_t *used;                 /* [caches] cores of these */
    size_t *first;                /* [caches + 1] where a cache's members begin in member */
    size_t *member;               /* [n] units by cache */
    double *own;                  /* [n] the pairs of a unit with the others on its cache */
    double *beside;               /* [n * caches] those of units of a like with those on another */
    double *closest;              /* [n * caches] the greatest of these */
    double *asks, *minds, *both;  /* [caches] sums of a domain: asks, minds, and their products */
    double asks_most, minds_most; /* of one unit */
    double asks_off, minds_off;   /* by which the sums of two domains differ at most */
};

/* Prepares the guess for units that stand so. Returns 0; -1 with errno EINVAL (improve_solve) or
 * ENOMEM. guess_free frees it in any case. */
int guess_init(struct guess *guess, const struct improve *problem, const size_t *cache_of);
void guess_free(struct guess *guess);

/* Returns where the sums of the unit for a cache that it is not on are: beside, closest. */
static inline size_t guess_at(const struct guess *guess, size_t unit, size_t cache)
{
    const size_t *like = guess->problem->like;

    return (like ? like[unit] : unit) * guess->problem->caches + cache;
}

/* Returns where the sum of its pairs with those on a cache is kept; NAN: it is not known. */
static inline double *guess_kept(const struct guess *guess, size_t unit, size_t cache)
{
    return guess->cache_of[unit] == cache ? &guess->own[unit]
                                          : &guess->beside[guess_at(guess, unit, cache)];
}

/* Adds it up and keeps it. */
double guess_sum(struct guess *guess, size_t unit, size_t cache);

/* Returns it. */
static inline double guess_beside(struct guess *guess, size_t unit, size_t cache)
{
    double kept = *guess_kept(guess, unit, cache);

    return isnan(kept) ? guess_sum(guess, unit, cache) : kept;
}

/* Returns what it costs, or saves, that a unit stands on cache `to` instead of where it stands. */
static inline double guess_price(const struct guess *guess, size_t unit, size_t to)
{
    const double *price = guess->problem->price;
    size_t row = unit * guess->problem->caches;

    return price ? price[row + to] - price[row + guess->cache_of[unit]] : 0;
}

/* Returns that of all that move. */
double guess_change_price(const struct guess *guess, const struct guess_change *change);

/* Returns whether all who stand on the caches have a core there after the change. */
bool guess_fits(const struct guess *guess, const struct guess_change *change);

/* Returns what the change is worth by the guess; -INFINITY where a unit may not stand there. */
double guess_value(struct guess *guess, const struct guess_change *change);

/* Returns what guess_value cannot exceed, without asking for a pair: who moves leaves all that he
 * loses where he stands. Most candidates are known by it not to be among the best. */
double guess_at_most(struct guess *guess, const struct guess_change *change);

/* Returns guess_value for units that change places, and as fast as can be: there are many.
 * -INFINITY where it is not more than `least`: most are known not to be before their pair is asked
 * for, which is one of those that each meets on the other's cache. */
double guess_exchange(struct guess *guess, size_t u, size_t v, double least);

/* Returns what neither a move of the unit, nor its part of a change of two units, can be worth more
 * than: no change of two is worth more than their two sums. -INFINITY where it may go nowhere. */
double guess_unit_at_most(struct guess *guess, size_t unit);

/* Makes the change. */
void guess_make(struct guess *guess, const struct guess_change *change);

#endif
