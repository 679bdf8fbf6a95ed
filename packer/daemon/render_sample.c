/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_sample - see render_sample.h */
#include "packer/daemon/render_sample.h"

#include "packer/base/json.h"
#include "packer/counters/sample_line.h"
#include "packer/observe/usage.h"
#include "packer/observe/window.h"
#include "packer/steps/program.h"

struct json_object *render_sample(const struct packer *packer, struct step *step, bool now)
{
    struct json_object *object = json_object_new_object();
    double at_s = observe_elapsed_s(step);
    struct counters_sample sample;
    struct by_node by;
    bool known;
    char id[WIRE_STEP_NAME_MAX];
    const char *name = program_name(&step->request);
    bool unnamed = step_is_shell(step) && name == program_command(&step->request);

    known = now ? window_read_by_node(packer, step, &sample, &by) == 0 : window_last(step, &sample);
    if (known && !now)
        at_s = sample.at_s - step->started_mono_s;
    wire_step_name(step->request.id, id);
    json_add_text(object, "id", id);
    json_add_text(object, "step", name[0] && !unnamed ? name : id);
    json_add_double(object, "at", at_s);
    if (known)
        sample_line_add(object, &sample);
    return object;
}
