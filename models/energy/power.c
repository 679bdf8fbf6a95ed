/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/energy/power.h"

#include <math.h>

#define KEEP 0.999 /* of the weight of what was seen before, per second */

double power_watts(const struct power_package *package, double cores, bool awake)
{
    if (!awake && cores <= 0)
        return package->asleep_w;
    return package->awake_w + package->core_w * cores;
}

double power_edp(double watts, double cores, double work)
{
    return watts * (cores / work) * (cores / work);
}

double power_break_even(double spread_w, double cluster_w)
{
    return sqrt(spread_w / cluster_w) - 1;
}

/* ---- the fit ---- */

static void fade(struct power_fit *fit, double keep)
{
    fit->asleep *= keep;
    fit->n *= keep;
    fit->x *= keep;
    fit->y *= keep;
    fit->xx *= keep;
    fit->xy *= keep;
}

void power_fit_add(struct power_fit *fit, double seconds, double watts, double cores)
{
    if (!(seconds > 0 && isfinite(seconds) && watts >= 0 && isfinite(watts) && cores >= 0 &&
          isfinite(cores)))
        return;
    fade(fit, pow(KEEP, seconds));
    if (cores < POWER_IDLE) {
        fit->asleep += seconds;
        fit->asleep_w += (watts - fit->asleep_w) * seconds / fit->asleep;
        return;
    }
    fit->n += seconds;
    fit->x += seconds * cores;
    fit->y += seconds * watts;
    fit->xx += seconds * cores * cores;
    fit->xy += seconds * cores * watts;
}

/* Least squares of two weights that are not negative: where one would be, it is 0, and the other is
 * what then fits best. */
static void solve(const struct power_fit *fit, double *awake_w, double *core_w)
{
    double variance = fit->xx - fit->x * fit->x / fit->n;

    *core_w = (fit->xy - fit->x * fit->y / fit->n) / variance;
    *awake_w = (fit->y - *core_w * fit->x) / fit->n;
    if (*core_w < 0) {
        *core_w = 0;
        *awake_w = fit->y / fit->n;
    } else if (*awake_w < 0) {
        *awake_w = 0;
        *core_w = fit->xy / fit->xx;
    }
}

bool power_fit_known(const struct power_fit *fit, struct power_package *package)
{
    double mean = fit->n > 0 ? fit->x / fit->n : 0;

    if (fit->asleep < POWER_LEAST || fit->n < POWER_LEAST ||
        fit->xx / fit->n - mean * mean < POWER_SPREAD)
        return false;
    package->asleep_w = fit->asleep_w;
    solve(fit, &package->awake_w, &package->core_w);
    package->awake_w = fmax(package->awake_w, package->asleep_w);
    return true;
}
