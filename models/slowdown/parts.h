/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts - which part of the slowdown of a program beside another is the cache's, the bus's, the
 * memory controller's and the prefetchers' (Blagodurov 2010, chapter 3, eq. 4 to 8).
 *
 * A program's time is measured alone, and beside another one that stands nearer and nearer: in
 * another package, in the same package on another cache, on the same cache; with prefetchers, and
 * without them. What each step nearer costs is the part of what is shared from there on. Where a
 * machine has not all of these places, the parts between two of them stay together; where there is
 * one cache, memory on another node tells the controller from the cache. */
#ifndef BERTH_MODELS_SLOWDOWN_PARTS_H
#define BERTH_MODELS_SLOWDOWN_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/* Where the other program stands. */
enum parts_where {
    PARTS_ALONE,   /* nowhere */
    PARTS_PACKAGE, /* in another package; its memory is where the first one's is */
    PARTS_CACHE,   /* in the same package, on another cache */
    PARTS_SAME,    /* on the same cache */
    PARTS_FAR,     /* on the same cache, with its memory on another node */
    PARTS_PLACES
};
extern const char *const parts_where_name[PARTS_PLACES]; /* "alone", "other-package", ... */

/* The program's time, seconds; NAN: not measured. error: its standard error; NAN: not known. */
struct parts_time {
    double seconds, error;
};

struct parts_times {
    struct parts_time on[PARTS_PLACES], off[PARTS_PLACES]; /* with prefetchers, without */
};

/* What a part is of. */
enum parts_of {
    PARTS_OF_CACHE = 1,
    PARTS_OF_BUS = 2,        /* what the caches of a package share towards memory */
    PARTS_OF_CONTROLLER = 4, /* the memory's controller and channels */
    PARTS_OF_PREFETCHERS = 8,
};
#define PARTS_MOST 4

struct parts_part {
    unsigned of;     /* bits: what could not be told apart is together */
    double slowdown; /* of the program's time alone, as a fraction; may be below 0 by chance */
    double error;    /* its standard error; NAN: not known */
};

struct parts {
    struct parts_part total; /* eq. 7: with prefetchers, on the same cache */
    size_t n;
    struct parts_part part[PARTS_MOST]; /* [n], whose slowdowns are the total; from the cache on */
    bool prefetchers; /* eq. 4 to 6 are of times without them, and eq. 8 is one of the parts */
};

/* Divides it. False: the program was not measured alone and on the same cache, with prefetchers. */
bool parts_divide(const struct parts_times *times, struct parts *parts);

#endif
