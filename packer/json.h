/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json - reading fields of a json-c object with their types and bounds checked, and an error that
 * names the field. */
#ifndef BERTH_JSON_H
#define BERTH_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpus.h"
#include "error.h"

enum json_need { JSON_OPTIONAL, JSON_REQUIRED };

/* Parse one whole JSON value from text[length] (blanks may follow). NULL and err, with the offset,
 * when it is not JSON. Free with json_object_put. */
struct json_object *json_parse(const char *text, size_t length, struct berth_error *err);

/* The text of a JSON string, borrowed; NULL when the value is none, or has a NUL inside. */
const char *json_text(struct json_object *value);

/* Each reads object[key] into *out: 0, or -1 and err "KEY: ..." when it is missing though required
 * or of the wrong type or range. A missing optional field (or null) leaves *out as it was. */
int json_get_text(struct json_object *object, const char *key, enum json_need need, char *out,
                  size_t size, struct berth_error *err);
int json_get_u32(struct json_object *object, const char *key, enum json_need need, uint32_t *out,
                 struct berth_error *err);
int json_get_u64(struct json_object *object, const char *key, enum json_need need, uint64_t *out,
                 struct berth_error *err);
int json_get_i64(struct json_object *object, const char *key, enum json_need need, int64_t *out,
                 struct berth_error *err);
int json_get_double(struct json_object *object, const char *key, enum json_need need, double *out,
                    struct berth_error *err); /* finite */
int json_get_bool(struct json_object *object, const char *key, enum json_need need, bool *out,
                  struct berth_error *err);
int json_get_array(struct json_object *object, const char *key, enum json_need need,
                   struct json_object **out, struct berth_error *err); /* borrowed */
int json_get_object(struct json_object *object, const char *key, enum json_need need,
                    struct json_object **out, struct berth_error *err); /* borrowed */
/* One of the n names; *out is its index. The error lists the names. */
int json_get_word(struct json_object *object, const char *key, enum json_need need,
                  const char *const *names, size_t n, int *out, struct berth_error *err);

/* Add fields; the object owns them. A NULL text and a negative or non-finite number
 * (json_add_measure) become null: measured or nothing. */
void json_add_text(struct json_object *object, const char *key, const char *text);
void json_add_u64(struct json_object *object, const char *key, uint64_t value);
void json_add_double(struct json_object *object, const char *key, double value);
void json_add_measure(struct json_object *object, const char *key, double value);
void json_add_bool(struct json_object *object, const char *key, bool value);
void json_add_cpus(struct json_object *object, const char *key,
                   const struct cpus *set); /* as a list text */

#endif
