/* SPDX-License-Identifier: GPL-2.0-or-later */
/* edp - the model edp: what a run cost in energy and time. */
#include "models/energy/edp.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/model/models.h"

#define MOST 1e24 /* no run takes more joules, seconds or instructions */

struct run {
    double energy_j, seconds, instructions;
};

static const struct json_field run_fields[] = {
    JSON_RANGE(struct run, "energy_j", energy_j, REQUIRED, 0, MOST),
    JSON_RANGE(struct run, "seconds", seconds, REQUIRED, 0, MOST),
    JSON_RANGE(struct run, "instructions", instructions, REQUIRED, 1, MOST),
    JSON_END,
};

struct json_object *ctl_model_edp(struct json_object *input, struct berth_error *err)
{
    struct json_object *output;
    struct run run;

    if (json_read(input, run_fields, &run, err) < 0)
        return NULL;
    output = json_object_new_object();
    json_add_double(output, "edp", edp_classic(run.energy_j, run.seconds));
    json_add_double(output, "edp_paper",
                    edp_per_instruction(run.energy_j, run.seconds, run.instructions));
    return output;
}
