/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_line - see ledger/line.h */
#include "packer/ledger/line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/ledger/schema.h"

static const struct json_field identity_fields[] = {
    JSON_NESTED(struct ledger_identity, LEDGER_IDENTIFY, is, REQUIRED, wire_identity_fields),
    JSON_FIELD(struct ledger_identity, "node", node, REQUIRED),
    JSON_RANGE(struct ledger_identity, "from", from, REQUIRED, 0, 9e15),
    JSON_RANGE(struct ledger_identity, "to", to, REQUIRED, 0, 9e15),
    JSON_END,
};

static void clean_texts(const struct json_field *fields, void *of)
{
    for (const struct json_field *field = fields; field->name; field++)
        if (field->kind == JSON_TEXT)
            text_clean((char *)of + field->offset);
}

/* Returns a line of these fields, which the caller frees; NULL: no memory. */
static char *line_of(const struct json_field *fields, const void *of)
{
    struct json_object *object = json_object_new_object();
    char *line = NULL;
    const char *text;
    size_t length;

    if (!object)
        return NULL;
    json_write(object, fields, of);
    text = json_object_to_json_string_length(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
    if (text && (line = malloc(length + 2))) {
        memcpy(line, text, length);
        memcpy(line + length, "\n", 2);
    }
    json_object_put(object);
    return line;
}

char *ledger_line_encode(const struct ledger_record *record)
{
    struct ledger_record clean = *record;

    clean_texts(ledger_fields, &clean);
    return line_of(ledger_fields, &clean);
}

char *ledger_identity_encode(const struct ledger_identity *identity)
{
    struct ledger_identity clean = *identity;

    clean_texts(identity_fields, &clean);
    clean_texts(wire_identity_fields, &clean.is);
    return line_of(identity_fields, &clean);
}

/* ---- a record of many that are read ---- */

static void put_text(FILE *out, const char *text)
{
    putc_unlocked('"', out);
    while (*text) {
        size_t length = text_character(text);

        if (*text == '"' || *text == '\\')
            putc_unlocked('\\', out);
        if (length)
            fwrite_unlocked(text, 1, length, out);
        else
            putc_unlocked('?', out);
        text += length ? length : 1;
    }
    putc_unlocked('"', out);
}

static void put_value(FILE *out, const struct json_field *field, const char *at)
{
    if (field->kind == JSON_TEXT)
        put_text(out, at);
    else if (field->kind == JSON_NUMBER)
        fprintf(out, field->whole ? "%.0f" : "%.17g", *(const double *)(const void *)at);
    else if (field->size == sizeof(uint64_t))
        fprintf(out, field->kind == JSON_UNSIGNED ? "%" PRIu64 : "%" PRId64,
                *(const uint64_t *)(const void *)at);
    else
        fprintf(out, field->kind == JSON_UNSIGNED ? "%" PRIu32 : "%" PRId32,
                *(const uint32_t *)(const void *)at);
}

/* Says whether the field tells something that nobody would assume. */
static bool is_told(const struct json_field *field, const char *at, const char *initial)
{
    if (field->kind == JSON_TEXT)
        return at[0] != '\0';
    if (field->kind == JSON_NUMBER)
        return json_in_range(field, *(const double *)(const void *)at);
    return memcmp(at, initial, field->size) != 0;
}

void ledger_record_put(FILE *out, const struct ledger_record *record)
{
    struct ledger_record none;
    const char *before = "{";

    ledger_record_init(&none);
    for (const struct json_field *field = ledger_fields; field->name; field++) {
        const char *at = (const char *)record + field->offset;

        if (!is_told(field, at, (const char *)&none + field->offset))
            continue;
        fprintf(out, "%s\"%s\":", before, field->name);
        put_value(out, field, at);
        before = ",";
    }
    fputc('}', out);
}

/* Reads a line of these fields. */
static int read_line(const char *line, size_t length, const struct json_field *fields, void *into,
                     struct berth_error *err)
{
    struct json_object *object;
    int rc = -1;

    if (length > LEDGER_LINE_MAX)
        return berth_error_set(err, "longer than %d bytes", LEDGER_LINE_MAX);
    object = json_parse(line, length, err);
    if (!object)
        return -1;
    if (json_object_is_type(object, json_type_object))
        rc = json_read(object, fields, into, err);
    else
        berth_error_set(err, "no object");
    json_object_put(object);
    return rc;
}

int ledger_line_decode(const char *line, size_t length, struct ledger_record *record,
                       struct berth_error *err)
{
    ledger_record_init(record);
    strcpy(record->identity, "environment"); /* of a berth that did not say so */
    if (read_line(line, length, ledger_fields, record, err) < 0)
        return -1;
    if (!record->start_ms && strcmp(record->state, "observed") == 0 && !record->proposed[0]) {
        strcpy(record->proposed, record->cpus); /* of a berth that had no other field for it */
        strcpy(record->cpus, record->home);
    }
    return 0;
}

bool ledger_line_identifies(const char *line, size_t length)
{
    static const char begin[] = "{\"" LEDGER_IDENTIFY "\":";

    return length >= strlen(begin) && memcmp(line, begin, strlen(begin)) == 0;
}

int ledger_identity_decode(const char *line, size_t length, struct ledger_identity *identity,
                           struct berth_error *err)
{
    memset(identity, 0, sizeof(*identity));
    return read_line(line, length, identity_fields, identity, err);
}
