/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cosit - which programs share a core, each on a hardware thread of it.
 *
 * What one loses there is nearly a product (contend.h): by how much it uses its core, and a little
 * by how much the other does. Of all divisions of programs into twos, the heaviest with the
 * lightest has the least sum of products. So nobody shares while a core is free, then the lightest
 * do, and the two that use their cores most are parted first.
 *
 * That is the rule for programs that nobody knows more of. Where pairs were measured, and moves
 * cost something, programs on one cache change places one by one, as long as that pays.
 *
 * Pure arithmetic: no I/O, no clock, no globals. Equal input gives an equal result. */
#ifndef BERTH_MODELS_PLACING_COSIT_H
#define BERTH_MODELS_PLACING_COSIT_H

#include <stdbool.h>
#include <stddef.h>

#define COSIT_MAX 256 /* programs on one cache */
#define COSIT_NOWHERE ((size_t)-1)

/* Divides n programs over so many cores: core[i], below `cores`, is that of program i. By
 * descending use (as contend_use, any unit, not negative) each goes to the core with the fewest, of
 * these to the one that is used least. Equal ones keep their order. Beyond COSIT_MAX programs, or
 * cores, or without any, all are on core 0. */
void cosit_divide(size_t n, const double *use, size_t cores, size_t *core);

/* Places, each a hardware thread. Who stands on place i before the improvement is number i. */
struct cosit {
    size_t n;
    const size_t *core;  /* [n] ascending */
    const size_t *group; /* [n] ascending: places of a group may be exchanged, those of one cache
                            with cores of one kind */
    const bool *fixed;   /* [n] who stands there stays, and nobody comes */
    const bool *works;   /* [n] by number: others on his core lose by him, and he by them */
    const size_t *began; /* [n] by number: the place that it costs him something to end away from;
                            COSIT_NOWHERE: none */
    const double *price; /* [n] by number: what that costs */
    const double *bears; /* [n] by number: by what fraction of his time alone he may be slower for
                            others on his core, before that counts for more than all gain */
    double horizon;      /* what it is worth to lose 1 less, in the unit of price */
    size_t changes_max;  /* 0: as many as pay */

    /* By what fraction of its time alone number a takes longer beside number b. */
    double (*loses)(size_t a, size_t b, void *arg);
    void *arg;
};

/* Exchanges places, the best exchange first, as long as one is worth more than it costs: who[n]
 * receives who stands where then. Returns how many were made. */
size_t cosit_improve(const struct cosit *cosit, size_t *who);

#endif
