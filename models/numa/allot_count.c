/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_count - which counts of cores and which objectives are as good as equal. */
#include <math.h>

#include "models/numa/allot_impl.h"
#include "models/numa/nucore.h"

double allot_tie(double objective)
{
    return NUCORE_TIE * (1 + fabs(objective) / 1000);
}

size_t allot_below(const struct allot *a, const struct box *box, size_t cell)
{
    double cores = relax_cores(a->relax, cell) + ALLOT_WHOLE;
    size_t lo = box->lo[cell], hi = box->hi[cell];

    while (lo < hi) {
        size_t middle = hi - (hi - lo) / 2;

        if (allot_count(a, cell, middle) <= cores)
            lo = middle;
        else
            hi = middle - 1;
    }
    return lo;
}
