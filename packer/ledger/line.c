/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_line - see ledger/line.h */
#include "packer/ledger/line.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/ledger/schema.h"

static void clean_texts(struct ledger_record *record)
{
    for (const struct json_field *field = ledger_fields; field->name; field++)
        if (field->kind == JSON_TEXT)
            text_clean((char *)record + field->offset);
}

char *ledger_line_encode(const struct ledger_record *record)
{
    struct json_object *object = json_object_new_object();
    struct ledger_record clean = *record;
    char *line = NULL;
    const char *text;
    size_t length;

    if (!object)
        return NULL;
    clean_texts(&clean);
    json_write(object, ledger_fields, &clean);
    text = json_object_to_json_string_length(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
    if (text && (line = malloc(length + 2))) {
        memcpy(line, text, length);
        memcpy(line + length, "\n", 2);
    }
    json_object_put(object);
    return line;
}

int ledger_line_decode(const char *line, size_t length, struct ledger_record *record,
                       struct berth_error *err)
{
    struct json_object *object;
    int rc = -1;

    if (length > LEDGER_LINE_MAX)
        return berth_error_set(err, "longer than %d bytes", LEDGER_LINE_MAX);
    object = json_parse(line, length, err);
    if (!object)
        return -1;
    ledger_record_init(record);
    if (json_object_is_type(object, json_type_object))
        rc = json_read(object, ledger_fields, record, err);
    else
        berth_error_set(err, "no object");
    json_object_put(object);
    return rc;
}
