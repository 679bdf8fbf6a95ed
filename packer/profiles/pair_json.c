/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pair_json - pairs as JSON objects, there and back (profiles.h). */
#include <math.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/profiles/db.h"
#include "packer/profiles/profiles.h"

#define PAIR_CORES_MAX 65535

static const struct json_field pair_fields[] = {
    JSON_FIELD(struct profile_pair, "uid", uid, OPTIONAL),
    JSON_RANGE(struct profile_pair, "cores", cores, REQUIRED, 1, PAIR_CORES_MAX),
    JSON_RANGE(struct profile_pair, "slowdown", slowdown, REQUIRED, -1 + 1e-9, 1e3),
    JSON_RANGE(struct profile_pair, "error", error, REQUIRED, 1e-9, 1e3),
    JSON_RANGE(struct profile_pair, "windows", windows, REQUIRED, 1e-9, 1e15),
    JSON_RANGE(struct profile_pair, "seconds", seconds, REQUIRED, 0, 1e15),
    JSON_RANGE(struct profile_pair, "runs", runs, REQUIRED, 1, 1e15),
    JSON_RANGE(struct profile_pair, "measured_at", measured_at, REQUIRED, 0, PROFILE_LATEST),
    JSON_END,
};
static const struct json_field beside_fields[] = {
    JSON_RANGE(struct profile_beside, "cores", cores, REQUIRED, 1, PAIR_CORES_MAX),
    JSON_FIELD(struct profile_beside, "uid", uid, OPTIONAL),
    JSON_END,
};

struct json_object *profile_pair_json(const struct profile_pair *pair)
{
    struct json_object *object = json_object_new_object(), *list = json_object_new_array();

    json_add_text(object, "key", pair->key);
    json_add_text(object, "machine", pair->machine);
    for (size_t i = 0; i < pair->n; i++) {
        struct json_object *item = json_object_new_object();

        json_add_text(item, "key", pair->beside[i].key);
        json_write(item, beside_fields, &pair->beside[i]);
        if (pair->beside[i].uid == pair->uid)
            json_object_object_del(item, "uid");
        json_append(list, item);
    }
    json_add(object, "beside", list);
    json_write(object, pair_fields, pair);
    if (pair->uid == PROFILE_EVERYBODY)
        json_object_object_del(object, "uid");
    return object;
}

/* Reads one of those beside; each program stands there once. */
static int read_neighbour(struct json_object *item, struct profile_pair *pair,
                          struct berth_error *err)
{
    struct profile_beside *beside = &pair->beside[pair->n];
    struct json_object *key;

    beside->uid = pair->uid;

    if (!json_object_is_type(item, json_type_object))
        return berth_error_set(err, "an object expected");
    key = json_find(item, "key");
    beside->key = json_object_is_type(key, json_type_string) ? json_text(key) : NULL;
    if (profile_key_check(beside->key, err) < 0)
        return -1;
    if (json_read(item, beside_fields, beside, err) < 0)
        return -1;
    for (size_t i = 0; i < pair->n; i++)
        if (pair->beside[i].uid == beside->uid && strcmp(pair->beside[i].key, beside->key) == 0)
            return berth_error_set(err, "key: each program once expected, with all its cores");
    pair->n++;
    return 0;
}

int profile_pair_parse(struct json_object *object, uint32_t uid, struct profile_pair *pair,
                       struct berth_error *err)
{
    struct json_object *list = NULL, *text;

    *pair = (struct profile_pair){.uid = uid, .machine = ""};
    text = json_find(object, "key");
    pair->key = json_object_is_type(text, json_type_string) ? json_text(text) : NULL;
    if (profile_key_check(pair->key, err) < 0 || json_read(object, pair_fields, pair, err) < 0 ||
        json_get_array(object, "beside", JSON_REQUIRED, &list, err) < 0)
        return -1;
    text = json_find(object, "machine");
    if (text &&
        (!(pair->machine = json_text(text)) || strlen(pair->machine) >= PROFILE_MACHINE_MAX))
        return berth_error_set(err, "machine: at most %d characters expected",
                               PROFILE_MACHINE_MAX - 1);
    if (json_object_array_length(list) < 1 || json_object_array_length(list) > PROFILE_BESIDE_MAX)
        return berth_error_set(err, "beside: 1 to %d programs expected", PROFILE_BESIDE_MAX);
    for (size_t i = 0; i < json_object_array_length(list); i++)
        if (read_neighbour(json_object_array_get_idx(list, i), pair, err) < 0)
            return berth_error_before(err, "beside[%zu].", i);
    return 0;
}
