/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_json - what sizing found out as JSON: for berthctl, and for the journal, which is read back.
 */
#ifndef BERTH_SIZE_JSON_H
#define BERTH_SIZE_JSON_H

#include <json-c/json.h>

#include "registry.h"

/* The caller releases it. */
struct json_object *size_to_json(const struct step_size *size);

/* 0, or -1 and err. */
int size_from_json(struct json_object *object, struct step_size *size, struct berth_error *err);

#endif
