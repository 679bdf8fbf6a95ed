/* SPDX-License-Identifier: GPL-2.0-or-later */
/* improve - moves units between caches, from where they stand, as long as that pays: what the node
 * loses less within the horizon is worth more than the moves cost. DI and the search of partition.h
 * place everybody anew; this one leaves in place whom nobody gains by moving.
 *
 * It tries single moves, exchanges (also of one unit for several smaller ones), a unit that takes
 * the place of another which goes to a free core, and rings of three. All of them are ranked by a
 * guess, the sum over pairs of units; the best are judged by the true objective, and the best of
 * these is made, until none pays. With few units all candidates are judged: no single exchange is
 * missed.
 *
 * Pure arithmetic: no I/O, no clock, no globals. Equal input gives an equal result. */
#ifndef BERTH_MODELS_PLACING_IMPROVE_H
#define BERTH_MODELS_PLACING_IMPROVE_H

#include <stdbool.h>
#include <stddef.h>

#define IMPROVE_TRIES 16

struct improve {
    size_t n;            /* units: each stands on one cache */
    const size_t *cores; /* [n] that each takes there, >= 1 */
    const size_t *kind;  /* [n] units of a kind are the same to pair() and lost(); NULL: none are */
    const size_t *like;  /* [n] units of a like, of which this is one, are the same to pair() beside
                            any other unit; NULL: none are */
    size_t caches;
    const size_t *room;   /* [caches] cores that are there for units */
    const size_t *domain; /* [caches] the memory node that the cache has; NULL: one for all */
    const double *price;  /* [n * caches] what it costs that unit u ends on cache c: 0 where it
                             stands at the start, or where it has no state yet; INFINITY where it may
                             not stand. NULL: nothing anywhere */
    const bool *focus;    /* [n] every candidate moves one of these, and one other unit at most per
                             unit's cores: no rings of three; NULL: of all */
    double horizon;       /* what it is worth to lose 1 less, in the unit of price; >= 0 */
    size_t moves_max;     /* units that may end elsewhere than they began; 0: all may */
    size_t changes_max;   /* made one after the other; 0: as many as pay */
    size_t tries;         /* candidates that are judged before the best of them is made, at most
                             IMPROVE_TRIES; 0: these */

    /* The guess: what two units lose together beside each other on one cache, >= 0, the same for
     * (a, b) and (b, a). */
    double (*pair)(size_t a, size_t b, void *arg);
    const double *asks, *minds; /* [n] a unit's traffic, and what it loses for each of another's, on
                                   whichever caches of a domain they are; NULL: nothing */

    /* The truth: what the units lose by these caches (touched[0..n-1], each once) and what they
     * change, while everybody stands as cache_of[] says. Only differences for the same caches
     * count.
     */
    double (*lost)(const size_t *cache_of, const size_t *touched, size_t n, void *arg);
    void *arg;
};

struct improve_found {
    double gain;   /* lost less */
    double price;  /* of the units that moved */
    size_t moved;  /* units that end elsewhere than they began, also those whose price is 0 */
    size_t judged; /* calls of lost() */
};

/* Improves cache_of[n], where each unit stands: no cache holds more than its room at the start.
 * What it finds is worth at least what it costs (gain * horizon >= price). Returns 0; -1 with errno
 * EINVAL (a unit of no core or on no cache, a cache that is overfull) or ENOMEM, and nothing
 * changed. */
int improve_solve(const struct improve *problem, size_t *cache_of, struct improve_found *found);

#endif
