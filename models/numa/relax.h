/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relax - the linear relaxation of eq. 5.18 in a box of allocations: what is the objective at most,
 * when cores can be divided?
 *
 * Instead of the paper's y variables and big B, what depends on the cores of one node alone (local
 * demand, a flow that only one end drives) is below the concave hull of its values at the counts of
 * cores that the box still has; the hull's facets are added as they are needed. So a box of one
 * allocation is exact, and a larger one as tight as a multiple choice among all counts. The
 * relaxation's prices give a bound for each count of each node; those that are below the best
 * allocation known are cut off (relax_tighten). */
#ifndef BERTH_MODELS_NUMA_RELAX_H
#define BERTH_MODELS_NUMA_RELAX_H

#include <stdbool.h>
#include <stddef.h>

#include "models/numa/flows.h"
#include "models/numa/simplex.h"

/* The counts of cores that a cell can have (eq. 5.7 has solutions, and the least is met). */
struct points {
    size_t n;
    unsigned *count; /* ascending */
    double *demand;  /* of each; one program: as far as the memory has it */
};

struct relax_problem {
    const struct flows *flows;
    const struct points *points; /* of each cell */
    const double *gain;          /* of each program, for a GB/s; a core costs 1 */
    const double *floor;         /* of each program, GB/s; NULL: none */
    bool (*stop)(void *stop_arg);
    void *stop_arg;
};

/* Allocations: the cell has points lo .. hi; the program has sum_lo .. sum_hi cores altogether. */
struct box {
    size_t *lo, *hi;
    double *sum_lo, *sum_hi;
    double bound; /* on the objective in it */
};

struct relax;

/* Returns a relaxation of the problem, which stays the caller's, and must stay; NULL with errno
 * ENOMEM. Free with relax_free. */
struct relax *relax_new(const struct relax_problem *problem);
void relax_free(struct relax *relax);

/* Solves it in the box, which must not be empty. Returns SIMPLEX_CUTOFF, too, when the optimum is
 * not above the cutoff. The rest is known after SIMPLEX_OPTIMAL. */
enum simplex_end relax_solve(struct relax *relax, const struct box *box, double cutoff);

/* Does the same, and adds cuts that make it tighter from now on. */
enum simplex_end relax_strengthen(struct relax *relax, const struct box *box, double cutoff,
                                  unsigned rounds);

/* Returns whether memory ran out since relax_new: what was said since then means nothing. */
bool relax_has_failed(const struct relax *relax);

double relax_bound(const struct relax *relax);              /* the optimum */
double relax_cores(const struct relax *relax, size_t cell); /* in the optimum */

/* Returns how much more the relaxation lets the cell ask for than its cores can; 0: nothing. */
double relax_excess(const struct relax *relax, size_t cell);

/* Takes from the box the ends of cells' counts with which no allocation is above the cutoff.
 * Returns false where nothing is left. */
bool relax_tighten(struct relax *relax, struct box *box, double cutoff);

/* Fills in, after relax_tighten, how far the bound falls when the cell has point lo, lo + 1, .. hi
 * of the box; for several cells, together. */
void relax_losses(struct relax *relax, const struct box *box, size_t cell, double *loss);

/* Fills in, after relax_tighten, how far the bound falls, besides that, for each GB/s that the
 * memory of a node (one program) is asked for less (idle) or more (over) than it has. */
void relax_misses(struct relax *relax, double *idle, double *over);

#endif
