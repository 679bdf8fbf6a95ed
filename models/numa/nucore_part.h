/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore_part - eq. 5.18 for programs on some nodes of a machine, of which none has traffic with
 * the others: what nucore.h puts together. */
#ifndef BERTH_MODELS_NUMA_NUCORE_PART_H
#define BERTH_MODELS_NUMA_NUCORE_PART_H

#include "models/numa/allot.h"
#include "models/numa/nucore.h"

struct part {
    const struct nucore *nucore;
    const struct numem_program *const *use; /* of each program */
    const bool *in;                         /* the nodes; NULL: all */
    const double *gain;                     /* of each program, for a GB/s; a core costs 1 */
    const double *floor;                    /* of each program, GB/s; NULL: none */
    const unsigned *cores_min, *cores_max;  /* of each program, on these nodes */
    bool any;                               /* the first allocation found will do */
};

/* Finds the best allocation; that of other nodes stays as it is. */
enum allot_end part_solve(const struct part *part, struct allot_best *best);

#endif
