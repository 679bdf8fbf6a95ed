/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock - see clock.h */
#include "models/slowdown/clock.h"

#include <math.h>

bool clock_is_known(const struct clock_curve *curve)
{
    return curve->cores > 0 && curve->one_ghz > 0 && curve->all_ghz > 0;
}

/* Returns what is at x on the straight line from (x0, y0) to (x1, y1). */
static double line_at(double x, double x0, double y0, double x1, double y1)
{
    return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y1;
}

double clock_at(const struct clock_curve *curve, double busy)
{
    double cores = (double)curve->cores, half = fmax(1, floor(cores / 2));

    if (!clock_is_known(curve))
        return NAN;
    busy = fmin(fmax(busy, 1), cores);
    if (!(curve->half_ghz > 0))
        return line_at(busy, 1, curve->one_ghz, cores, curve->all_ghz);
    if (busy <= half)
        return line_at(busy, 1, curve->one_ghz, half, curve->half_ghz);
    return line_at(busy, half, curve->half_ghz, cores, curve->all_ghz);
}

double clock_works(double waits)
{
    return 1 - CLOCK_UNCLOCKED * fmin(fmax(waits, 0), 1);
}

double clock_slowdown(const struct clock_curve *curve, double works, double alone, double busy)
{
    if (!clock_is_known(curve))
        return 0;
    return works * (clock_at(curve, alone) / clock_at(curve, busy) - 1);
}
