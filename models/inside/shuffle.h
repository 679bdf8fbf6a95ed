/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shuffle - which package each thread of a program belongs to, so that those which wait for the
 * same lock stand together (Thread Shuffling, Pusukuri 2012, chapter 4, Algorithm 2).
 *
 * Threads are sorted by the part of their time that they wait for locks and cut into as many groups
 * of consecutive ones as packages are used, of equal sizes; groups that follow each other go to
 * packages that are near each other. That order is the shortest chain through all packages: exact
 * for up to SHUFFLE_EXACT_MAX of them, beyond it the best of the nearest-neighbour chains from
 * each. Of equal chains (each can be gone backwards, too) it is the one that moves the fewest
 * threads, and threads that wait equally long stay where they are as far as the sizes allow.
 *
 * Sizes: threads per core are even over the packages, so that packages of equal many cores get
 * groups of equal size, and none has more than its cores while there are free ones. What does not
 * come out even goes where more threads stand: groups that are even already keep their sizes.
 * Threads that the program has bound itself stay, and count where they are.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_INSIDE_SHUFFLE_H
#define BERTH_MODELS_INSIDE_SHUFFLE_H

#include <stdbool.h>
#include <stddef.h>

#define SHUFFLE_PACKAGES_MAX 64
#define SHUFFLE_EXACT_MAX 8
#define SHUFFLE_NOWHERE                                                                            \
    ((size_t)-1)          /* a thread that stands in none of the packages, or in several */
#define SHUFFLE_LOCK 0.05 /* of a program's time: less is not worth a move */
#define SHUFFLE_READING_MS 200

struct shuffle_thread {
    double lock; /* the part of its time that it waits for locks; NAN (not known): it stays */
    size_t at;   /* the package where it stands, or SHUFFLE_NOWHERE */
    bool bound;  /* by the program itself: it stays */
};

struct shuffle_packages {
    size_t n;               /* 1 .. SHUFFLE_PACKAGES_MAX */
    const unsigned *cores;  /* [n], > 0: that the program has there */
    const double *distance; /* [n * n], symmetrical, finite; NULL: all are equally far */
};

/* Returns the part of its time that the program waits for locks: the mean over the threads of which
 * it is known; NAN: there is none. */
double shuffle_lock(size_t n, const struct shuffle_thread *thread);

/* Says whether there is anything to do: more than SHUFFLE_LOCK is waited, and several packages. */
bool shuffle_due(const struct shuffle_packages *packages, size_t n,
                 const struct shuffle_thread *thread);

/* Deals the threads anew. to: [n], out: the package of each; that of one that stays is its `at`.
 * order: [packages->n], out: the chain of the packages (may be NULL). Returns how many threads are
 * elsewhere than they were, or -1 without memory; then to is undefined. */
long shuffle_deal(const struct shuffle_packages *packages, size_t n,
                  const struct shuffle_thread *thread, size_t *to, size_t *order);

#endif
