/* SPDX-License-Identifier: GPL-2.0-or-later */
/* climb - where an ascent stands: its allocation, and whether another one comes before it. */
#ifndef BERTH_MODELS_NUMA_CLIMB_H
#define BERTH_MODELS_NUMA_CLIMB_H

#include "models/numa/ascent.h"

/* What decides between allocations that are as good; then, which has more cores on lower nodes. */
struct rank {
    size_t nodes;  /* cells in use */
    double spread; /* of the bandwidth of a core, summed over programs */
};

struct climb {
    const struct ascent *ascent;
    const struct nucore *nucore;
    size_t nodes, programs, cells;
    struct flows *flows;
    struct flows_aim aim;
    unsigned *now, *trial;  /* [cells] */
    double *local, *amount; /* scratch: a trial's traffic */
    bool begun;             /* there is an allocation in now */
    double top;             /* the best value so far: now's, but for a tie */
    struct rank rank;       /* now's */
    bool failed, stopped;
};

/* Begins an ascent: the arguments stay the caller's, and must stay. Returns 0, or -1 (errno
 * ENOMEM); climb_free either way. */
int climb_init(struct climb *c, const struct ascent *ascent);
void climb_free(struct climb *c);

/* What a cell has at least, and may have. */
unsigned climb_least(const struct climb *c, size_t cell);
unsigned climb_most(const struct climb *c, size_t cell);

/* Makes the trial the allocation of now if there is none yet, or it comes before that. Returns
 * whether it did. */
bool climb_try(struct climb *c);

bool climb_is_stopped(struct climb *c);

/* Returns whether now's allocation gives everybody what he must have. */
bool climb_is_feasible(struct climb *c);

/* ---- climb_start.c ---- */

/* Finds an allocation to begin with: the best one that some dives into the relaxation lead to.
 * Returns 0, also where there is none; -1: errno ENOMEM. */
int climb_start(struct climb *c);

/* ---- climb_rank.c ---- */

struct rank rank_of(const struct flows *flows, const unsigned *allocation);

/* Returns whether an allocation comes before another one that is as good. */
bool rank_precedes(const struct climb *c, const struct rank *rank, const unsigned *allocation,
                   const struct rank *other, const unsigned *than);

#endif
