/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json - makes a json-c object of JSON text, and adds fields to one. base/json_fields.h reads them,
 * and whole structs there and back. */
#ifndef BERTH_BASE_JSON_H
#define BERTH_BASE_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"

/* Parses one whole JSON value from text[length] (blanks may follow). NULL and err, with the offset,
 * when it is not JSON. Free with json_object_put. */
struct json_object *json_parse(const char *text, size_t length, struct berth_error *err);

/* Returns the text of a JSON string, borrowed; NULL when the value is none, or has a NUL inside. */
const char *json_text(struct json_object *value);

/* Adds fields; the object owns them. Nothing is added to NULL, which is what memory that ran out
 * made of it; errno is ENOMEM then, as where a field has no memory and is left out. A NULL text and
 * a negative or non-finite number (json_add_measure) become null: measured or nothing. */
void json_add(struct json_object *object, const char *key, struct json_object *value);
void json_add_text(struct json_object *object, const char *key, const char *text);
void json_add_u64(struct json_object *object, const char *key, uint64_t value);
void json_add_double(struct json_object *object, const char *key, double value);
void json_add_measure(struct json_object *object, const char *key, double value);
void json_add_number(struct json_object *object, const char *key,
                     double value); /* also below 0; null where it is not finite */
void json_add_bool(struct json_object *object, const char *key, bool value);
void json_add_cpus(struct json_object *object, const char *key,
                   const struct cpus *set); /* as a list text */

/* Appends a value, which the array owns then. Nothing is appended to NULL. */
void json_append(struct json_object *array, struct json_object *value);

#endif
