/* SPDX-License-Identifier: GPL-2.0-or-later */
/* animal - programs as turtles, sheep, rabbits and devils, and how these get on in one cache (Xie
 * and Loh 2008, as corrected in Blagodurov 2010, section 2.2.2: devils are sensitive, too).
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_SLOWDOWN_ANIMAL_H
#define BERTH_MODELS_SLOWDOWN_ANIMAL_H

#include "models/slowdown/app.h"

enum animal {
    ANIMAL_TURTLE, /* asks little of the cache */
    ANIMAL_SHEEP,  /* low miss rate, hardly minds having fewer ways */
    ANIMAL_RABBIT, /* low miss rate, needs its ways */
    ANIMAL_DEVIL,  /* high miss rate */
    ANIMAL_COUNT
};

/* Where a class begins, per million instructions. */
struct animal_limits {
    double devil_miss_pmi;    /* misses: so many or more make a devil */
    double turtle_access_pmi; /* accesses: fewer make a turtle */
    double rabbit_loss_pmi;   /* hits lost with half of the ways: so many or more make a rabbit */
};

/* The paper tells only the devil's limit, and of the symbiosis table only
 * its corners, 0 and 8: the other limits and the inner scores are ours. A program that accesses the
 * cache less often than that cannot miss like a devil, however little of the cache is left to it: a
 * turtle. 500 lost hits are a tenth of the time of a program that runs at one instruction per cycle
 * and waits 200 cycles for memory. */
#define ANIMAL_DEVIL_MISS_PMI 2000.0
#define ANIMAL_TURTLE_ACCESS_PMI 2000.0
#define ANIMAL_RABBIT_LOSS_PMI 500.0

/* Returns the class of a program with this profile. The devil's limit is asked first, then the
 * turtle's, then the rabbit's. Of an odd number of ways the middle one is lost by half. */
enum animal animal_of(const struct app_sdp *sdp, const struct animal_limits *limits);

/* Returns "turtle", "sheep", "rabbit" or "devil". */
const char *animal_name(enum animal animal);

/* Returns the score of the symbiosis table, 0 (they do not notice each other) to 8. It tells what
 * both suffer together: each is said to suffer half. */
struct app_pair animal_pair(enum animal a, enum animal b);

#endif
