/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_records - the question for records of the ledger as JSON: a part of wire.c. */
#ifndef BERTH_WIRE_WIRE_RECORDS_H
#define BERTH_WIRE_WIRE_RECORDS_H

#include <json-c/json.h>

#include "packer/wire/wire.h"

/* Adds the question's fields to an object. */
void wire_records_encode(struct json_object *object, const struct wire_records *records);

/* Reads them. Returns 0; or -1 and err, with nothing to clear. */
int wire_records_decode(struct json_object *object, struct wire_records *records,
                        struct berth_error *err);

#endif
