/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_paper - eq. 5.11 of Wang 2015 as it is printed there, through GLPK: what NuMem is compared
 * with. */
#ifndef BERTH_NUMA_PAPER_H
#define BERTH_NUMA_PAPER_H

#include "models/numa/nucore.h"

/* The greatest sum of gain[p] * bandwidth of program p, no bandwidth below floor[p] (NULL: none),
 * with these cores (program * nodes + node); NAN where there is none. */
double paper_numem(const struct numem_machine *machine, const struct numem_program *program,
                   size_t programs, const double *gain, const double *floor,
                   const unsigned *allocation);

#endif
