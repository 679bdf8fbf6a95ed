/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore_noproof - in the place of nucore_proof.c where GLPK was not found. */
#include "lab/model/nucore_proof.h"

int nucore_prove(const struct nucore *nucore, double limit_s, struct nucore_result *result,
                 double *bound, struct berth_error *err)
{
    (void)nucore;
    (void)limit_s;
    (void)result;
    (void)bound;
    return berth_error_set(err, "prove: berthctl was built without GLPK");
}
