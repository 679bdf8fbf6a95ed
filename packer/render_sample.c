/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_sample - see render_sample.h */
#include "render_sample.h"

#include "json.h"
#include "observe.h"
#include "sample.h"
#include "samples.h"
#include "program.h"

struct json_object *render_sample(struct packer *packer, struct step *step)
{
    struct json_object *object = json_object_new_object();
    double at_s = observe_elapsed_s(step);
    struct counters_sample sample;
    char id[WIRE_STEP_NAME_MAX];
    const char *name = program_name(&step->request);

    wire_step_name(step->request.id, id);
    json_add_text(object, "id", id);
    json_add_text(object, "step", name[0] ? name : id);
    json_add_double(object, "at", at_s);
    if (sample_read(packer, step, &sample) == 0)
        samples_add(object, &sample);
    return object;
}
