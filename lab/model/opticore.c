/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opticore - the model opticore: windows of a program that runs, one after the other: in which
 * phase it is, and when it is profiled. */
#include "models/online/opticore.h"

#include <math.h>
#include <stdlib.h>

#include "packer/base/array.h"
#include "lab/model/models.h"

#define MOST 1e15

static const struct json_field window_fields[] = {
    JSON_RANGE(struct opticore_window, "seconds", ended_s, REQUIRED, 1e-3, 1e6),
    JSON_RANGE(struct opticore_window, "instructions", instructions, REQUIRED, 1, MOST),
    JSON_RANGE(struct opticore_window, "misses", misses, OPTIONAL, 0, MOST),
    JSON_RANGE(struct opticore_window, "bytes", bytes, OPTIONAL, 0, MOST),
    JSON_RANGE(struct opticore_window, "region", region, OPTIONAL, 0, MOST),
    JSON_END,
};

static const struct json_field rule_fields[] = {
    JSON_RANGE(struct opticore_rules, "profile_s", profile_s, OPTIONAL, 1e-3, 1e6),
    JSON_RANGE(struct opticore_rules, "rest_s", rest_s, OPTIONAL, 0, 1e6),
    JSON_RANGE(struct opticore_rules, "cost", cost, OPTIONAL, 0, 1),
    JSON_RANGE(struct opticore_rules, "stay_s", stay_s, OPTIONAL, 0, 1e6),
    JSON_RANGE(struct opticore_rules, "first_s", first_s, OPTIONAL, 0, 1e6),
    JSON_END,
};

struct input {
    struct opticore_window *window;
    size_t n;
    struct opticore_rules rules;
};

static const struct opticore_window unset = {.misses = NAN, .bytes = NAN};
static const struct json_field input_fields[] = {
    JSON_NESTED(struct input, "rules", rules, OPTIONAL, rule_fields),
    JSON_STRUCTS(struct input, "windows", window, n, REQUIRED, 1, 0, window_fields, &unset),
    JSON_END,
};

/* What runs the loop: the phases that were profiled, by what they look like. */
struct runner {
    struct opticore core;
    struct opticore_rules rules;
    double now_s;
    struct opticore_signature *known;
    size_t n, room;
};

static unsigned look_up(const struct runner *runner)
{
    struct opticore_signature seen = opticore_signature(&runner->core);

    for (size_t i = 0; i < runner->n; i++)
        if (opticore_same(&runner->known[i], &seen))
            return (unsigned)i + 1;
    return 0;
}

/* The phase is profiled between two windows, and known from then on. 0; -1: no memory. */
static int profile(struct runner *runner)
{
    struct opticore *core = &runner->core;

    if (array_grow(&runner->known, &runner->room, runner->n + 1, sizeof(*runner->known)) < 0)
        return -1;
    runner->known[runner->n++] = core->at;
    opticore_profile(core, runner->now_s);
    runner->now_s += runner->rules.profile_s;
    opticore_profiled(core, runner->now_s);
    opticore_is(core, (unsigned)runner->n, runner->now_s);
    opticore_resized(core, runner->now_s);
    return 0;
}

/* Takes in a window. Returns 1 where a profiling run follows, 0 where none does, -1: no memory. */
static int window_add(struct runner *runner, struct opticore_window *window)
{
    window->began_s = runner->now_s;
    window->ended_s = runner->now_s += window->ended_s;
    if (opticore_window(&runner->core, window))
        opticore_is(&runner->core, look_up(runner), runner->now_s);
    if (!opticore_may_profile(&runner->core, &runner->rules, runner->now_s))
        return 0;
    return profile(runner) < 0 ? -1 : 1;
}

static struct json_object *describe(const struct runner *runner, bool profiled)
{
    const struct opticore *core = &runner->core;
    struct json_object *object = json_object_new_object();

    json_add_double(object, "at_s", runner->now_s);
    json_add_text(object, "state", opticore_state_name[core->state]);
    json_add(object, "phase", core->phase ? json_object_new_uint64(core->phase) : NULL);
    json_add_bool(object, "profiled", profiled);
    return object;
}

static int follow(void *of, struct json_object *output, struct berth_error *err)
{
    struct json_object *after = json_object_new_array();
    struct input *in = of;
    struct runner runner = {.rules = in->rules};
    int profiled = 0;

    opticore_init(&runner.core);
    for (size_t i = 0; i < in->n && profiled >= 0; i++) {
        profiled = window_add(&runner, &in->window[i]);
        json_append(after, describe(&runner, profiled > 0));
    }
    json_add_u64(output, "profiles", runner.core.profiles);
    json_add_double(output, "profiled_s", runner.core.profiled_s);
    json_add_u64(output, "phases", runner.n);
    json_add(output, "after", after);
    free(runner.known);
    return profiled < 0 ? berth_no_memory(err) : 0;
}

CTL_FILTER(opticore, struct input, input_fields, follow,
           .rules = {.profile_s = .5, .rest_s = 30, .cost = .005, .stay_s = 10, .first_s = 5});
