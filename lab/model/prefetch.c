/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefetch - the model prefetch: what each test of half a second on, half a second off decides. */
#include <math.h>

#include "models/inside/prefetch.h"
#include "lab/model/models.h"

#define MOST 1e18

/* When it is, which phase the program is in, and what it would do in either half. */
struct turn {
    double at_s; /* NAN: a second after the one before */
    uint64_t phase;
    struct prefetch_half on, off;
};

struct input {
    struct turn *turn;
    size_t n;
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
static const struct turn unset = {.at_s = NAN, .on = {NAN, NAN}, .off = {NAN, NAN}};
static const struct json_field input_fields[] = {
    JSON_STRUCTS(struct input, "turns", turn, n, REQUIRED, 1, 0, turn_fields, &unset),
    JSON_END,
};

/* A test begins and is decided, where it is due. */
static struct json_object *follow(struct prefetch *prefetch, const struct turn *turn)
{
    struct json_object *output = json_object_new_object();
    bool due = prefetch_due(prefetch, turn->phase, turn->at_s) == 0;

    if (due) {
        prefetch_begin(prefetch, turn->phase, turn->at_s);
        prefetch_tell(prefetch, &turn->on);
        prefetch_tell(prefetch, &turn->off);
    }
    json_add_bool(output, "tested", due);
    json_add_text(output, "state", prefetch_state_name[prefetch->state]);
    json_add_text(output, "by", !prefetch->tested ? NULL : prefetch->by_energy ? "ipj" : "ips");
    json_add_measure(output, "ratio", prefetch->tested ? prefetch->ratio : NAN);
    return output;
}

static int follow_all(void *of, struct json_object *output, struct berth_error *err)
{
    struct json_object *after = json_object_new_array();
    struct prefetch prefetch = {0};
    struct input *in = of;
    double last_s = 0;

    json_add(output, "after", after);
    for (size_t i = 0; i < in->n; i++) {
        struct turn *turn = &in->turn[i];

        if (isnan(turn->at_s))
            turn->at_s = last_s + 1;
        if (turn->at_s <= last_s)
            return berth_error_set(err,
                                   "turns[%zu].at: %g: later than the turn before (%g) expected", i,
                                   turn->at_s, last_s);
        last_s = turn->at_s;
        json_append(after, follow(&prefetch, turn));
    }
    return 0;
}

CTL_FILTER(prefetch, struct input, input_fields, follow_all, .turn = NULL);
