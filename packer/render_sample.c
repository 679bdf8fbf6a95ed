/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_sample - see render_sample.h */
#include "render_sample.h"

#include <string.h>

#include "json.h"
#include "observe.h"
#include "sample.h"
#include "samples.h"

static const char *name_of(const struct step *step, const char *id)
{
    const char *slash = strrchr(step->request.exe, '/');

    if (step->request.options.tag[0])
        return step->request.options.tag;
    if (step->request.exe[0])
        return slash ? slash + 1 : step->request.exe;
    return id;
}

struct json_object *render_sample(struct packer *packer, struct step *step)
{
    struct json_object *object = json_object_new_object();
    double at_s = observe_elapsed_s(step);
    struct counters_sample sample;
    char id[WIRE_STEP_NAME_MAX];

    wire_step_name(step->request.id, id);
    json_add_text(object, "id", id);
    json_add_text(object, "step", name_of(step, id));
    json_add_double(object, "at", at_s);
    if (sample_read(packer, step, &sample) == 0)
        samples_add(object, &sample);
    return object;
}
