/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ascent - from some allocations of cores to better ones, as far as small changes lead. */
#ifndef BERTH_MODELS_NUMA_ASCENT_H
#define BERTH_MODELS_NUMA_ASCENT_H

#include "models/numa/flows.h"
#include "models/numa/nucore.h"

/* What is made the greatest: the sum of gain * bandwidth, less one for each core. */
struct ascent {
    const struct nucore *nucore;            /* its machine, programs, and when to stop */
    const struct numem_program *const *use; /* of each program */
    const double *gain;
    const double *floor;                   /* of each program's bandwidth; NULL: none */
    const unsigned *cores_min, *cores_max; /* of each program: on all nodes together */
};

enum ascent_end { ASCENT_DONE, ASCENT_STOPPED, ASCENT_FAILED };

/* Finds an allocation that no change gains on: a change of one cell (program * nodes + node), or
 * of two. Of those that are as good it is the first one by nucore_solve's rule, as far as changes
 * lead. *feasible: eq. 5.7 and all floors hold. Stopped: it is the best one so far. Failed: errno
 * ENOMEM. */
enum ascent_end ascent_climb(const struct ascent *ascent, unsigned *allocation, bool *feasible);

#endif
