/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_adapt - see machine/adapt.h */
#include "packer/machine/adapt.h"

#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"

#define COEFFICIENT_MAX 1e6

static const struct json_field fields[] = {
    JSON_FIELD(struct machine_adapt, "source", source, OPTIONAL),
    JSON_END,
};
static const struct json_field coefficient = {
    .kind = JSON_NUMBER, .need = JSON_REQUIRED, .min = -COEFFICIENT_MAX, .max = COEFFICIENT_MAX};

static int read_object(struct json_object *own, struct machine_adapt *adapt,
                       struct berth_error *err)
{
    json_asked_note(own, "paap_fit"); /* how well they fit: for people */
    json_asked_note(own, "pacc_fit");
    if (json_read(own, fields, adapt, err) < 0)
        return -1;
    if (json_get_list(json_find(own, "paap"), "paap", ADAPT_PAAP, &coefficient, adapt->is.paap,
                      sizeof(double), err) < 0)
        return -1;
    return json_get_list(json_find(own, "pacc"), "pacc", ADAPT_PACC, &coefficient, adapt->is.pacc,
                         sizeof(double), err);
}

int machine_adapt_read(struct json_object *object, const char *name, struct machine_adapt *adapt,
                       struct berth_error *err)
{
    struct json_object *own = NULL;

    if (json_get_object(object, name, JSON_OPTIONAL, &own, err) < 0)
        return -1;
    if (!own)
        return 0;
    if (read_object(own, adapt, err) < 0)
        return berth_error_before(err, "%s.", name);
    adapt->known = true;
    return 0;
}

struct json_object *machine_adapt_json(const struct machine_adapt *adapt)
{
    struct json_object *object;

    if (!adapt->known)
        return NULL;
    object = json_object_new_object();
    json_add(object, "paap",
             json_new_list(ADAPT_PAAP, &coefficient, adapt->is.paap, sizeof(double)));
    json_add(object, "pacc",
             json_new_list(ADAPT_PACC, &coefficient, adapt->is.pacc, sizeof(double)));
    json_add_text(object, "source", adapt->source);
    return object;
}
