/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_put - see report/table.h */
#include "packer/report/table.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/text.h"

static int width_of(const struct report_column *column)
{
    return abs(column->width);
}

static void put_spaces(FILE *out, int n)
{
    while (n-- > 0)
        putc_unlocked(' ', out);
}

/* Padded or cut to the column's width, the last character then '+', and a blank. */
static void put_padded(FILE *out, const struct report_column *column, const char *text,
                       size_t length)
{
    int width = width_of(column), used = (int)text_columns(text, length);

    if (column->width > 0)
        put_spaces(out, width - used);
    fwrite_unlocked(text, 1, used > width ? text_fit(text, (size_t)width - 1) : length, out);
    if (used > width)
        putc_unlocked('+', out);
    if (column->width < 0)
        put_spaces(out, width - used);
    putc_unlocked(' ', out);
}

static void put_cell(struct report_put *put, size_t i, const char *text, size_t length)
{
    const char *delimiter = put->shape == REPORT_SHAPE_CSV ? "," : put->delimiter;

    if (put->shape == REPORT_SHAPE_TABLE) {
        put_padded(put->out, &put->column[i], text, length);
        return;
    }
    if (put->shape == REPORT_SHAPE_CSV)
        text_put_csv(put->out, text);
    else
        fwrite_unlocked(text, 1, length, put->out);
    if (put->shape == REPORT_SHAPE_PARSABLE || i + 1 < put->columns)
        fputs_unlocked(delimiter, put->out);
}

void report_put_header(struct report_put *put)
{
    if (!put->header)
        return;
    for (size_t i = 0; i < put->columns; i++) {
        const char *title =
            put->shape == REPORT_SHAPE_CSV ? put->column[i].key : put->column[i].title;

        put_cell(put, i, title, strlen(title));
    }
    putc_unlocked('\n', put->out);
    if (put->shape != REPORT_SHAPE_TABLE)
        return;
    for (size_t i = 0; i < put->columns; i++) {
        for (int k = 0; k < width_of(&put->column[i]); k++)
            putc_unlocked('-', put->out);
        putc_unlocked(' ', put->out);
    }
    putc_unlocked('\n', put->out);
}

void report_put_row(struct report_put *put, const struct report_row *row)
{
    char text[REPORT_CELL_MAX];

    for (size_t i = 0; i < put->columns; i++) {
        size_t length = put->shape == REPORT_SHAPE_CSV
                            ? report_cell_raw(row, put->column[i].field, text)
                            : report_cell(row, put->column[i].field, put->unit, text);

        text_clean(text);
        put_cell(put, i, text, length);
    }
    putc_unlocked('\n', put->out);
    put->rows++;
}

struct json_object *report_put_object(const struct report_put *put, const struct report_row *row)
{
    struct json_object *object = json_object_new_object();

    if (!object)
        return NULL;
    for (size_t i = 0; i < put->columns; i++) {
        struct json_object *value = report_cell_json(row, put->column[i].field);

        if (json_object_object_add(object, put->column[i].key, value) < 0) {
            json_object_put(value);
            json_object_put(object);
            return NULL;
        }
    }
    return object;
}
