/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_line - see ledger/line.h */
#include "packer/ledger/line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/base/text.h"
#include "packer/ledger/schema.h"

/* ---- texts ---- */

static struct json_object *clean_text(const char *text, size_t size)
{
    char clean[512];
    size_t length = strnlen(text, size < sizeof(clean) ? size - 1 : sizeof(clean) - 1);

    memcpy(clean, text, length);
    clean[length] = '\0';
    text_clean(clean);
    return json_object_new_string(clean);
}

/* ---- writing ---- */

static struct json_object *number(double value, bool whole)
{
    if (!isfinite(value) || (whole && fabs(value) > LEDGER_WHOLE_MAX))
        return NULL;
    return whole ? json_object_new_int64((int64_t)value) : json_object_new_double(value);
}

static struct json_object *value_of(const struct ledger_field *field, const void *at)
{
    switch (field->type) {
    case LEDGER_TEXT:
        return clean_text(at, field->size);
    case LEDGER_U32:
        return json_object_new_int64(*(const uint32_t *)at);
    case LEDGER_U64:
        return json_object_new_uint64(*(const uint64_t *)at);
    case LEDGER_I64:
        return json_object_new_int64(*(const int64_t *)at);
    case LEDGER_STATUS:
        return *(const int *)at < 0 ? NULL : json_object_new_int(*(const int *)at);
    default:
        return number(*(const double *)at, field->type == LEDGER_WHOLE);
    }
}

char *ledger_line_encode(const struct ledger_record *record)
{
    struct json_object *object = json_object_new_object();
    char *line = NULL;
    const char *text;
    size_t length;

    if (!object)
        return NULL;
    for (size_t i = 0; i < LEDGER_FIELDS; i++)
        json_object_object_add_ex(
            object, ledger_field[i].name,
            value_of(&ledger_field[i], (const char *)record + ledger_field[i].offset),
            JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_ADD_CONSTANT_KEY);
    text = json_object_to_json_string_length(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
    if (text && (line = malloc(length + 2))) {
        memcpy(line, text, length);
        memcpy(line + length, "\n", 2);
    }
    json_object_put(object);
    return line;
}

/* ---- reading ---- */

static int read_status(struct json_object *object, const char *name, int *status,
                       struct berth_error *err)
{
    int64_t value = -1;

    if (json_get_i64(object, name, JSON_OPTIONAL, &value, err) < 0)
        return -1;
    if (value < -1 || value > INT32_MAX)
        return berth_error_set(err, "%s: no wait status", name);
    *status = (int)value;
    return 0;
}

static int read_field(struct json_object *object, const struct ledger_field *field, void *at,
                      struct berth_error *err)
{
    switch (field->type) {
    case LEDGER_TEXT:
        return json_get_text(object, field->name, JSON_OPTIONAL, at, field->size, err);
    case LEDGER_U32:
        return json_get_u32(object, field->name, JSON_OPTIONAL, at, err);
    case LEDGER_U64:
        return json_get_u64(object, field->name, JSON_OPTIONAL, at, err);
    case LEDGER_I64:
        return json_get_i64(object, field->name, JSON_OPTIONAL, at, err);
    case LEDGER_STATUS:
        return read_status(object, field->name, at, err);
    default:
        return json_get_double(object, field->name, JSON_OPTIONAL, at, err);
    }
}

int ledger_line_decode(const char *line, size_t length, struct ledger_record *record,
                       struct berth_error *err)
{
    struct json_object *object;
    int rc = 0;

    if (length > LEDGER_LINE_MAX)
        return berth_error_set(err, "longer than %d bytes", LEDGER_LINE_MAX);
    object = json_parse(line, length, err);
    if (!object)
        return -1;
    ledger_record_init(record);
    if (!json_object_is_type(object, json_type_object))
        rc = berth_error_set(err, "no object");
    for (size_t i = 0; i < LEDGER_FIELDS && rc == 0; i++)
        rc = read_field(object, &ledger_field[i], (char *)record + ledger_field[i].offset, err);
    json_object_put(object);
    if (rc == 0 && (record->id.job == 0 || record->start <= 0))
        rc = berth_error_set(err, "no record: job or start is missing");
    return rc;
}
