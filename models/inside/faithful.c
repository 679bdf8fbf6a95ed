/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/inside/faithful.h"

#include <math.h>

#define ROUNDING 1e-9 /* 1 - 0.7 is more than 0.3 in binary; it is the same here */

/* Table 5.1, from low to high */
static const struct faithful_row faithful_table[FAITHFUL_ROWS] = {
    {0.10, 250}, {0.20, 200}, {0.30, 150}, {0.40, 120}, {0.50, 100},
    {0.60, 80},  {0.70, 50},  {0.80, 30},  {0.90, 20},  {1.00, 10},
};

double faithful_scaling(double miss_ratio, double lock)
{
    return 1 - fmin(fmax(fmax(miss_ratio, lock), 0), 1) +
           (isnan(miss_ratio) && isnan(lock) ? NAN : 0);
}

unsigned faithful_quantum_ms(double scaling)
{
    for (unsigned i = 0; i < FAITHFUL_ROWS; i++)
        if (scaling <= faithful_table[i].most + ROUNDING)
            return faithful_table[i].quantum_ms;
    return 0;
}

bool faithful_ready(struct faithful *faithful, double from_s, double now_s, bool workers)
{
    if (workers && !faithful->working)
        faithful->since_s = now_s;
    faithful->working = workers;
    return workers && from_s - faithful->since_s >= FAITHFUL_SETTLE_S;
}

bool faithful_take(struct faithful *faithful, double miss_ratio, double lock)
{
    double scaling = faithful_scaling(miss_ratio, lock);

    if (isnan(scaling))
        return false;
    if (faithful->set && fabs(scaling - faithful->scaling) <= FAITHFUL_RANGE + ROUNDING)
        return false;
    faithful->set = true;
    faithful->scaling = scaling;
    faithful->quantum_ms = faithful_quantum_ms(scaling);
    return true;
}
