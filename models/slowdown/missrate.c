/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/slowdown/missrate.h"

#include <math.h>

double missrate_of(const struct app *app)
{
    if (!isnan(app->llc_mpki))
        return app->llc_mpki * 1000;
    return app->sdp.ways > 0 ? app->sdp.misses : NAN;
}

struct app_pair missrate_pair(double a, double b)
{
    return (struct app_pair){.score = 2 * a * b, .a_given_b = a * b, .b_given_a = a * b};
}
