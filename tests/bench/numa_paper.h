/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_paper - eq. 5.11 and 5.18 of Wang 2015 as they are printed there, through GLPK: what NuMem
 * and NuCore are compared with. */
#ifndef BERTH_NUMA_PAPER_H
#define BERTH_NUMA_PAPER_H

#include "models/numa/nucore.h"

/* The greatest sum of gain[p] * bandwidth of program p, no bandwidth below floor[p] (NULL: none),
 * with these cores (program * nodes + node); NAN where there is none. */
double paper_numem(const struct numem_machine *machine, const struct numem_program *program,
                   size_t programs, const double *gain, const double *floor,
                   const unsigned *allocation);

struct paper_found {
    bool optimal;
    double objective; /* NAN where nothing was found */
};

/* Eq. 5.18 with its y variables and its big B. */
struct paper_found paper_nucore(const struct numem_machine *machine,
                                const struct numem_program *program, double limit_s);

#endif
