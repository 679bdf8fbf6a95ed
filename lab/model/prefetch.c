/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefetch - the model prefetch: what each test of half a second on, half a second off decides. */
#include <math.h>

#include "models/inside/prefetch.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"

#define MOST 1e18

/* When it is, which phase the program is in, and what it would do in either half. */
struct turn {
    double at_s;
    uint64_t phase;
    struct prefetch_half on, off;
};

static const struct json_field turn_fields[] = {
    JSON_RANGE(struct turn, "at", at_s, OPTIONAL, 0, MOST),
    JSON_FIELD(struct turn, "phase", phase, OPTIONAL),
    JSON_RANGE(struct turn, "on_ips", on.ips, OPTIONAL, 0, MOST),
    JSON_RANGE(struct turn, "off_ips", off.ips, OPTIONAL, 0, MOST),
    JSON_RANGE(struct turn, "on_ipj", on.ipj, OPTIONAL, 0, MOST),
    JSON_RANGE(struct turn, "off_ipj", off.ipj, OPTIONAL, 0, MOST),
    JSON_END,
};

static struct json_object *describe(const struct prefetch *prefetch, bool tested)
{
    struct json_object *output = json_object_new_object();

    json_add_bool(output, "tested", tested);
    json_add_text(output, "state", prefetch_state_name[prefetch->state]);
    json_add_text(output, "by", !prefetch->tested ? NULL : prefetch->by_energy ? "ipj" : "ips");
    json_add_measure(output, "ratio", prefetch->tested ? prefetch->ratio : NAN);
    return output;
}

/* A test begins and is decided, where it is due. */
static struct json_object *take(struct prefetch *prefetch, const struct turn *turn)
{
    bool due = prefetch_due(prefetch, turn->phase, turn->at_s) == 0;

    if (due) {
        prefetch_begin(prefetch, turn->phase, turn->at_s);
        prefetch_tell(prefetch, &turn->on);
        prefetch_tell(prefetch, &turn->off);
    }
    return describe(prefetch, due);
}

struct json_object *ctl_model_prefetch(struct json_object *input, struct berth_error *err)
{
    struct json_object *turns, *after, *output;
    struct prefetch prefetch = {0};
    double last_s = 0;

    if (ctl_input_list(input, "turns", json_type_object, &turns, err) < 0)
        return NULL;
    after = json_object_new_array();
    for (size_t i = 0; i < json_object_array_length(turns); i++) {
        struct turn turn = {.at_s = last_s + 1, .on = {NAN, NAN}, .off = {NAN, NAN}};

        if (json_read(json_object_array_get_idx(turns, i), turn_fields, &turn, err) < 0 ||
            (turn.at_s <= last_s && berth_error_set(err,
                                                    "at: %g: later than the turn before (%g) "
                                                    "expected",
                                                    turn.at_s, last_s) < 0)) {
            berth_error_before(err, "turns[%zu].", i);
            json_object_put(after);
            return NULL;
        }
        last_s = turn.at_s;
        json_append(after, take(&prefetch, &turn));
    }
    output = json_object_new_object();
    json_add(output, "after", after);
    return output;
}
