/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/report/table.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/text.h"

static void put_spaces(FILE *out, int n)
{
    while (n-- > 0)
        putc_unlocked(' ', out);
}

/* Padded or cut to the column's width, the last character then '+', and a blank. A figure that was
 * cut would be another figure: it takes more room. */
static void put_padded(FILE *out, const struct report_column *column, const char *text,
                       size_t length, bool is_title)
{
    int width = abs(column->width), used = (int)text_columns(text, length);

    if (used > width && report_field_is_whole(column->field) && !is_title)
        width = used;
    if (column->width > 0)
        put_spaces(out, width - used);
    fwrite_unlocked(text, 1, used > width ? text_fit(text, (size_t)width - 1) : length, out);
    if (used > width)
        putc_unlocked('+', out);
    if (column->width < 0)
        put_spaces(out, width - used);
    putc_unlocked(' ', out);
}

static void put_cell(struct report_table *table, size_t i, const char *text, size_t length,
                     bool is_title)
{
    const char *delimiter = table->shape == REPORT_SHAPE_CSV ? "," : table->delimiter;

    if (table->shape == REPORT_SHAPE_TABLE) {
        put_padded(table->out, &table->column[i], text, length, is_title);
        return;
    }
    if (table->shape == REPORT_SHAPE_CSV && report_field_is_text(table->column[i].field))
        text_put_csv_cell(table->out, text);
    else
        fwrite_unlocked(text, 1, length, table->out);
    if (table->shape == REPORT_SHAPE_PARSABLE || i + 1 < table->columns)
        fputs_unlocked(delimiter, table->out);
}

void report_table_header(struct report_table *table)
{
    if (!table->header)
        return;
    for (size_t i = 0; i < table->columns; i++) {
        const char *title =
            table->shape == REPORT_SHAPE_CSV ? table->column[i].key : table->column[i].title;

        put_cell(table, i, title, strlen(title), true);
    }
    putc_unlocked('\n', table->out);
    if (table->shape != REPORT_SHAPE_TABLE)
        return;
    for (size_t i = 0; i < table->columns; i++) {
        for (int k = 0; k < abs(table->column[i].width); k++)
            putc_unlocked('-', table->out);
        putc_unlocked(' ', table->out);
    }
    putc_unlocked('\n', table->out);
}

/* Puts the cells from the i-th on, and ends the line. */
static void put_cells(struct report_table *table, size_t i, const struct report_row *row)
{
    char text[REPORT_CELL_MAX];

    for (; i < table->columns; i++) {
        size_t length = table->shape == REPORT_SHAPE_CSV
                            ? report_format_raw(row, table->column[i].field, &table->terms, text)
                            : report_format_cell(row, table->column[i].field, &table->terms, text);

        if (report_field_is_text(table->column[i].field))
            text_clean(text);
        put_cell(table, i, text, length, false);
    }
    putc_unlocked('\n', table->out);
    table->rows++;
}

void report_table_widen(struct report_table *table, const struct report_row *row)
{
    char text[REPORT_CELL_MAX];

    for (size_t i = 0; i < table->columns; i++) {
        int *width = &table->column[i].width;
        size_t length = report_format_cell(row, table->column[i].field, &table->terms, text);
        int used = (int)text_columns(text, length);

        if (used > abs(*width) && report_field_is_whole(table->column[i].field))
            *width = *width < 0 ? -used : used;
    }
}

void report_table_row(struct report_table *table, const struct report_row *row)
{
    put_cells(table, 0, row);
}

void report_table_sum(struct report_table *table, const struct report_row *row, const char *name)
{
    put_cell(table, 0, name, strlen(name), true);
    put_cells(table, 1, row);
}

struct json_object *report_table_object(const struct report_table *table,
                                        const struct report_row *row)
{
    struct json_object *object = json_object_new_object();

    if (!object)
        return NULL;
    for (size_t i = 0; i < table->columns; i++) {
        struct json_object *value = report_format_json(row, table->column[i].field, &table->terms);

        if (json_object_object_add(object, table->column[i].key, value) < 0) {
            json_object_put(value);
            json_object_put(object);
            return NULL;
        }
    }
    return object;
}
