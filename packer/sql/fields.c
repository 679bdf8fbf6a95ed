/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_fields - see sql/fields.h */
#include "packer/sql/fields.h"

#include "packer/sql/sql_way.h"

void sql_put_names(FILE *out, const struct json_field *fields)
{
    for (size_t i = 0; fields[i].name; i++)
        fprintf(out, "%s\"%s\"", i ? ", " : "", fields[i].name);
}

void sql_put_holes(FILE *out, const struct json_field *fields)
{
    for (size_t i = 0; fields[i].name; i++)
        fputs(i ? ", ?" : "?", out);
}

static void bind_number(struct sql_statement *statement, size_t i, const struct json_field *field,
                        double value)
{
    if (!json_in_range(field, value))
        sql_bind_null(statement, i);
    else if (field->whole)
        sql_bind_int(statement, i, (int64_t)value);
    else
        sql_bind_double(statement, i, value);
}

static void bind_integer(struct sql_statement *statement, size_t i, const struct json_field *field,
                         const void *at)
{
    int64_t value = field->size == sizeof(int64_t) ? *(const int64_t *)at
                    : field->kind == JSON_UNSIGNED ? (int64_t) * (const uint32_t *)at
                                                   : *(const int32_t *)at;

    if (json_in_range(field, (double)value))
        sql_bind_int(statement, i, value);
    else
        sql_bind_null(statement, i);
}

size_t sql_bind_fields(struct sql_statement *statement, size_t first,
                       const struct json_field *fields, const void *from)
{
    for (const struct json_field *field = fields; field->name; field++, first++) {
        const void *at = (const char *)from + field->offset;

        if (field->kind == JSON_TEXT)
            sql_bind_text(statement, first, at);
        else if (field->kind == JSON_BOOL)
            sql_bind_int(statement, first, *(const bool *)at);
        else if (field->kind == JSON_NUMBER)
            bind_number(statement, first, field, *(const double *)at);
        else
            bind_integer(statement, first, field, at);
    }
    return first;
}

static void take_value(const struct sql_value *value, const struct json_field *field, void *at)
{
    if (field->kind == JSON_TEXT) {
        sql_value_copy(value, at, field->size);
    } else if (field->kind == JSON_BOOL) {
        *(bool *)at = sql_value_int(value) != 0;
    } else if (field->kind == JSON_NUMBER) {
        *(double *)at = sql_value_double(value);
    } else if (field->size == sizeof(uint32_t)) {
        *(uint32_t *)at = (uint32_t)sql_value_int(value);
    } else {
        *(int64_t *)at = sql_value_int(value);
    }
}

size_t sql_take_fields(const struct sql_statement *row, size_t first,
                       const struct json_field *fields, void *into)
{
    /* The values are looked at directly: a report has a million of them. */
    for (; fields->name && first < row->columns; fields++, first++)
        if (row->column[first].type != SQL_NULL)
            take_value(&row->column[first], fields, (char *)into + fields->offset);
    return first;
}
