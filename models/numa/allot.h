/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot - branch and bound for eq. 5.18: the allocation of cores with the greatest objective, sum
 * of gain * bandwidth - cores, over the relaxation of relax.h. */
#ifndef BERTH_MODELS_NUMA_ALLOT_H
#define BERTH_MODELS_NUMA_ALLOT_H

#include "models/numa/relax.h"

enum allot_end {
    ALLOT_DONE,    /* the best, or proof that there is none */
    ALLOT_STOPPED, /* the caller said so: the best so far */
    ALLOT_FAILED,  /* errno ENOMEM */
};

struct allot;

/* The problem (whose flows serve to work out allocations) stays the caller's, and must stay; so do
 * the cores that each program has altogether, at least and at most. Returns NULL with errno ENOMEM.
 * Free with allot_free. */
struct allot *allot_new(const struct relax_problem *problem, struct flows *flows,
                        const unsigned *cores_min, const unsigned *cores_max);
void allot_free(struct allot *allot);

struct allot_best {
    bool found;
    double objective;
    double bound;         /* nothing has more */
    bool settled;         /* it is the first of those that are as good */
    unsigned *allocation; /* of each cell; the caller's */
};

/* Finds the best allocation of all; of those that are as good, the first by nucore.h's rule. Where
 * the caller stops it while it looks for that one, or that takes too long, it is ALLOT_DONE with
 * one of the best that is not settled. Or (any) the first allocation that is found. */
enum allot_end allot_solve(struct allot *allot, bool any, struct allot_best *best);

/* Returns how near to this one an objective is that counts as equal. */
double allot_tie(double objective);

#endif
