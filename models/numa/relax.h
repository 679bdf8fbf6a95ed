/* SPDX-License-Identifier: GPL-2.0-or-later */
/* relax - the optimum where parts of cores can be given: where the ascent starts. */
#ifndef BERTH_MODELS_NUMA_RELAX_H
#define BERTH_MODELS_NUMA_RELAX_H

#include "models/numa/ascent.h"

/* Each local demand is taken for the least concave curve above it where it is served, and for a
 * line below it where it keeps memory from others (eq. 5.7): what is best here no allocation
 * exceeds. flows are those of the ascent's programs; both stay the caller's, and must stay. NULL:
 * errno ENOMEM. */
struct relax *relax_new(const struct ascent *ascent, const struct flows *flows);
void relax_free(struct relax *relax);

/* Says what a cell may have. At first it is what its program may. */
void relax_limit(struct relax *relax, size_t cell, unsigned least, unsigned most);

/* Finds the cores of each cell. Returns 0; 1: there are none that are worth more than `above`, or
 * it was stopped; -1: errno ENOMEM. */
int relax_solve(struct relax *relax, double above, double *cores);

#endif
