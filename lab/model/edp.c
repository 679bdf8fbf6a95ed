/* SPDX-License-Identifier: GPL-2.0-or-later */
/* edp - the model edp: what a run cost in energy and time. */
#include <math.h>

#include "models/energy/edp.h"
#include "lab/model/models.h"

#define MOST 1e24 /* no run takes more joules, seconds or instructions */

struct run {
    double energy_j, seconds, instructions;
    double idle_w; /* NAN: not given */
};

static const struct json_field run_fields[] = {
    JSON_RANGE(struct run, "energy_j", energy_j, REQUIRED, 0, MOST),
    JSON_RANGE(struct run, "seconds", seconds, REQUIRED, 0, MOST),
    JSON_RANGE(struct run, "instructions", instructions, REQUIRED, 1, MOST),
    JSON_RANGE(struct run, "idle_w", idle_w, OPTIONAL, 0, MOST),
    JSON_END,
};

static int add_cost(void *in, struct json_object *output, struct berth_error *err)
{
    const struct run *run = in;
    double above_j = run->energy_j - run->idle_w * run->seconds;

    if (above_j < 0)
        return berth_error_set(err, "idle_w: %g: a run of %g s with %g J drew less", run->idle_w,
                               run->seconds, run->energy_j);
    json_add_double(output, "edp", edp_classic(run->energy_j, run->seconds));
    json_add_double(output, "edp_paper",
                    edp_per_instruction(run->energy_j, run->seconds, run->instructions));
    if (isnan(above_j))
        return 0;
    json_add_double(output, "edp_above_idle", edp_classic(above_j, run->seconds));
    json_add_double(output, "edp_paper_above_idle",
                    edp_per_instruction(above_j, run->seconds, run->instructions));
    return 0;
}

CTL_FILTER(edp, struct run, run_fields, add_cost, .idle_w = NAN);
