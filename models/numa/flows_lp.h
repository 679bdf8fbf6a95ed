/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flows_lp - eq. 5.11 as a linear program, for any number of programs. */
#ifndef BERTH_MODELS_NUMA_FLOWS_LP_H
#define BERTH_MODELS_NUMA_FLOWS_LP_H

#include "models/numa/flows.h"

struct flows_lp;

/* The flows stay the caller's, and must stay. NULL: errno ENOMEM. */
struct flows_lp *flows_lp_new(const struct flows *flows, const struct flows_aim *aim);
void flows_lp_free(struct flows_lp *lp);

/* Does what flows_solve does, with the aim's `above` of now; of one program, local is taken as it
 * is. -1: the solver failed, too (errno ENOMEM). */
int flows_lp_solve(struct flows_lp *lp, const unsigned *allocation, double above, double *local,
                   double *amount);

#endif
