/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore_proof - is there an allocation that is better than what NuCore found? GLPK's integer
 * solver looks for one (Wang 2015, eq. 5.18). */
#ifndef BERTH_LAB_MODEL_NUCORE_PROOF_H
#define BERTH_LAB_MODEL_NUCORE_PROOF_H

#include "models/numa/nucore.h"
#include "packer/base/error.h"

#define NUCORE_PROOF_LEAST 1e-6 /* of the objective: what is better by less is not looked for */

/* Looks for so long. Where nothing is better, the result becomes NUCORE_OPTIMAL; where something
 * is, that becomes the result, and optimal if it was proven. *bound: no allocation has more; NAN:
 * it is not known. Returns 0, or -1 and err: berthctl was built without GLPK, or no memory. */
int nucore_prove(const struct nucore *nucore, double limit_s, struct nucore_result *result,
                 double *bound, struct berth_error *err);

#endif
