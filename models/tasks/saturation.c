/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/tasks/saturation.h"
#include "enum_table.h"

#include <math.h>

const char *const TABLE(saturation_name, SATURATION_STATES) = {
    ROW(SATURATION_UNKNOWN) = NULL,
    ROW(SATURATION_IDLE) = "idle",
    ROW(SATURATION_NORMAL) = "normal",
    ROW(SATURATION_SATURATED) = "saturated",
};
TABLE_COMPLETE(saturation_name);

size_t saturation_knee(size_t cores, const double *curve)
{
    if (cores == 0 || !(curve[1] > 0))
        return 0;
    for (size_t n = 1; n < cores; n++) {
        double more = curve[n + 1] - curve[n];

        if (isnan(more))
            return 0;
        if (more < SATURATION_KNEE * curve[1])
            return n;
    }
    return cores;
}

static enum saturation_state sample(const struct saturation_rules *rules, double utilisation)
{
    if (isnan(utilisation))
        return SATURATION_UNKNOWN;
    if (utilisation >= rules->saturated)
        return SATURATION_SATURATED;
    return utilisation <= rules->idle ? SATURATION_IDLE : SATURATION_NORMAL;
}

bool saturation_take(struct saturation *saturation, const struct saturation_rules *rules,
                     double utilisation)
{
    enum saturation_state said = sample(rules, utilisation);

    saturation->row = said == saturation->said ? saturation->row : 0;
    saturation->said = said;
    if (saturation->row < rules->hold)
        saturation->row++;
    if (saturation->row < rules->hold || said == saturation->state)
        return false;
    saturation->state = said;
    return true;
}
