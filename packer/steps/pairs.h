/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairs - slowdowns that were measured, on their way to who predicts slowdowns.
 *
 * The stage of observe/beside.h puts them in: what was measured on this node just now, and what the
 * profile store knows of the node's programs. Whoever corrects predictions (place/forecast.h) takes
 * them out, once. */
#ifndef BERTH_STEPS_PAIRS_H
#define BERTH_STEPS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIR_BESIDE_MAX                                                                            \
    32                 /* different programs beside one on its cache: sets of more are not kept */
#define PAIRS_MAX 2048 /* that wait; the oldest give way */

/* A program at work on so many cores of a cache. */
struct pair_part {
    uint16_t program; /* programs.h */
    uint16_t cores;
};

/* A program beside others on one cache, and how it fared. */
struct pair {
    struct pair_part self;
    double slowdown;  /* against the same program on as many cores with the cache to itself: the
                         fraction of its time that it took longer; > -1, below 0 for noise */
    double error;     /* its standard deviation, > 0 */
    double windows;   /* of counting that it is from */
    double age_s;     /* since it was measured; 0: just now */
    uint16_t sibling; /* 1 + the program on the other hardware threads of its cores; 0: nobody's.
                         It is one of those beside, too. */
    size_t n;
    struct pair_part beside[PAIR_BESIDE_MAX]; /* [n] by number, each program once */
};

struct pairs { /* all zero: none */
    size_t n, room, first;
    struct pair *pair; /* a ring */
    uint64_t lost;     /* pairs that nobody took in time */
};

/* Puts one in. Out of memory it is lost. */
void pairs_put(struct pairs *pairs, const struct pair *pair);

/* Takes the oldest out. Returns false where there is none. */
bool pairs_take(struct pairs *pairs, struct pair *pair);

/* Adds so many cores of a program to those beside; keeps them in order. Returns -1 where there are
 * PAIR_BESIDE_MAX others. */
int pair_add(struct pair *pair, uint16_t program, uint16_t cores);

/* Returns a copy, to be freed, with room for those beside and no more; NULL for want of memory. */
struct pair *pair_copy(const struct pair *pair);

/* Takes such a copy over into a whole one. */
void pair_take(struct pair *to, const struct pair *copy);

/* Is it the same program, beside the same ones, with the same on its cores? */
bool pair_same(const struct pair *a, const struct pair *b);

void pairs_free(struct pairs *pairs);

#endif
