/* SPDX-License-Identifier: GPL-2.0-or-later */
/* edp - the model edp: what a run cost in energy and time. */
#include "models/energy/edp.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/model/models.h"

#define MOST 1e24 /* no run takes more joules, seconds or instructions */

static int read_between(struct json_object *input, const char *key, double least, double *value,
                        struct berth_error *err)
{
    if (json_get_double(input, key, JSON_REQUIRED, value, err) < 0)
        return -1;
    if (*value < least || *value > MOST)
        return berth_error_set(err, "%s: between %g and %g expected", key, least, MOST);
    return 0;
}

struct json_object *ctl_model_edp(struct json_object *input, struct berth_error *err)
{
    double energy_j, seconds, instructions;
    struct json_object *output;

    if (read_between(input, "energy_j", 0, &energy_j, err) < 0 ||
        read_between(input, "seconds", 0, &seconds, err) < 0 ||
        read_between(input, "instructions", 1, &instructions, err) < 0)
        return NULL;
    output = json_object_new_object();
    json_add_double(output, "edp", edp_classic(energy_j, seconds));
    json_add_double(output, "edp_paper", edp_per_instruction(energy_j, seconds, instructions));
    return output;
}
