/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_adapt - holds a site's own coefficients of ADAPT (models/inside/adapt.h), as `berthctl
 * calibrate --adapt` fits them: {"paap":[6 numbers],"pacc":[3 numbers],"source":".."}, the object
 * "adapt" of a machine profile. */
#ifndef BERTH_MACHINE_ADAPT_H
#define BERTH_MACHINE_ADAPT_H

#include <json-c/json.h>
#include <stdbool.h>

#include "models/inside/adapt.h"
#include "packer/base/error.h"

struct machine_adapt {
    bool known; /* else the paper's are as good as any */
    char source[256];
    struct adapt_coefficients is;
};

/* Reads the member `name` of an object. One that is absent or null leaves *adapt as it is. Returns
 * 0, or -1 and err that names the field. */
int machine_adapt_read(struct json_object *object, const char *name, struct machine_adapt *adapt,
                       struct berth_error *err);

/* Returns the same as JSON, which the caller releases; NULL where it is not known. */
struct json_object *machine_adapt_json(const struct machine_adapt *adapt);

#endif
