/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_size - what sizing found out as JSON: for berthctl, and for the journal, which is read back.
 */
#ifndef BERTH_STEPS_STEP_SIZE_H
#define BERTH_STEPS_STEP_SIZE_H

#include <json-c/json.h>

#include "packer/steps/registry.h"

/* The caller releases it. */
struct json_object *step_size_to_json(const struct step_size *size);

/* 0, or -1 and err. */
int step_size_from_json(struct json_object *object, struct step_size *size,
                        struct berth_error *err);

#endif
