/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot - branch and bound for eq. 5.18: the allocation of cores with the greatest objective, sum
 * of gain * bandwidth - cores, over the relaxation of relax.h. */
#ifndef MODELS_ALLOT_H
#define MODELS_ALLOT_H

#include "relax.h"

enum allot_end {
    ALLOT_DONE,    /* the best, or proof that there is none */
    ALLOT_STOPPED, /* the caller said so: the best so far */
    ALLOT_FAILED,  /* errno ENOMEM */
};

struct allot;

/* The problem (whose flows serve to work out allocations) stays the caller's, and must stay. NULL:
 * errno ENOMEM. */
struct allot *allot_new(const struct relax_problem *problem, struct flows *flows);
void allot_free(struct allot *allot);

/* A box of everything, with the cores that each program may have altogether. Free with box_free;
 * NULL: errno ENOMEM. */
struct box *box_new(const struct relax_problem *problem, const unsigned *cores_min,
                    const unsigned *cores_max);
struct box *box_copy(const struct allot *allot, const struct box *box);
void box_free(struct box *box);

struct allot_best {
    bool found;
    double objective;     /* more than `above` */
    double bound;         /* nothing in the box has more */
    unsigned *allocation; /* of each cell; the caller's */
};

/* The best allocation in the box (which is narrowed to where it can be) with more than `above`; of
 * any there are, or (any) the first one found. */
enum allot_end allot_search(struct allot *allot, struct box *box, double above, bool any,
                            struct allot_best *best);

/* Make *best, an optimum in the box, the one of them that has the most cores in the first cell; of
 * those, in the second; and so on. Where the caller stops it, the later cells stay as they are. */
enum allot_end allot_settle(struct allot *allot, const struct relax_problem *problem,
                            const struct box *box, struct allot_best *best);

/* Take from the box what the relaxation shows to have no allocation above that. */
enum allot_end allot_narrow(struct allot *allot, struct box *box, double above);

/* Objectives that are as near as that count as equal. */
double allot_tie(double objective);

/* The objective of an allocation; NAN where eq. 5.7 or a floor has no solution. */
double allot_objective(struct allot *allot, const unsigned *allocation);

#endif
