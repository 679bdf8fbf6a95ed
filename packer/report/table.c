/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/report/table.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/text.h"

/* ---- a line ---- */

/* A line as it is built. A report has a hundred million cells: stdio takes longer for one of three
 * digits than they take to be written, so that it is asked once a line, as a rule. */
struct line {
    FILE *out;
    size_t n;
    char text[16 * REPORT_CELL_MAX];
};

/* Its text is not set to anything: that would take longer than most lines. */
static void line_begin(struct line *line, FILE *out)
{
    line->out = out;
    line->n = 0;
}

static void line_flush(struct line *line)
{
    fwrite_unlocked(line->text, 1, line->n, line->out);
    line->n = 0;
}

/* Returns where a cell can be written that is added next. */
static char *line_room(struct line *line)
{
    if (sizeof(line->text) - line->n < REPORT_CELL_MAX)
        line_flush(line);
    return line->text + line->n;
}

/* Adds a text, which may stand in line_room(). */
static void line_add(struct line *line, const char *text, size_t length)
{
    if (text != line->text + line->n) {
        if (length > sizeof(line->text) - line->n)
            line_flush(line);
        if (length > sizeof(line->text)) {
            fwrite_unlocked(text, 1, length, line->out);
            return;
        }
        memcpy(line->text + line->n, text, length);
    }
    line->n += length;
}

static void line_repeat(struct line *line, char c, int n)
{
    while (n-- > 0)
        line_add(line, &c, 1);
}

static void line_end(struct line *line)
{
    line_add(line, "\n", 1);
    line_flush(line);
}

/* ---- cells ---- */

/* Padded or cut to the column's width, the last character then '+', and a blank. A figure that was
 * cut would be another figure: it takes more room. */
static void put_padded(struct line *line, const struct report_column *column, const char *text,
                       size_t length, bool is_title)
{
    int width = abs(column->width), used = (int)text_columns(text, length);

    if (used > width && report_field_is_whole(column->field) && !is_title)
        width = used;
    if (column->width > 0)
        line_repeat(line, ' ', width - used);
    line_add(line, text, used > width ? text_fit(text, (size_t)width - 1) : length);
    if (used > width)
        line_repeat(line, '+', 1);
    if (column->width < 0)
        line_repeat(line, ' ', width - used);
    line_repeat(line, ' ', 1);
}

/* A text may need quotes, and may stand in line_room(). */
static void put_csv(struct line *line, const char *text, size_t length)
{
    if (text_is_csv_cell(text)) {
        line_add(line, text, length);
        return;
    }
    line_flush(line);
    text_put_csv_cell(line->out, text);
}

static void put_cell(const struct report_table *table, struct line *line, size_t i,
                     const char *text, size_t length, bool is_title)
{
    const char *delimiter = table->shape == REPORT_SHAPE_CSV ? "," : table->delimiter;

    if (table->shape == REPORT_SHAPE_TABLE) {
        put_padded(line, &table->column[i], text, length, is_title);
        return;
    }
    if (table->shape == REPORT_SHAPE_CSV && report_field_is_text(table->column[i].field))
        put_csv(line, text, length);
    else
        line_add(line, text, length);
    if (table->shape == REPORT_SHAPE_PARSABLE || i + 1 < table->columns)
        line_add(line, delimiter, strlen(delimiter));
}

void report_table_header(struct report_table *table)
{
    struct line line;

    if (!table->header)
        return;
    line_begin(&line, table->out);
    for (size_t i = 0; i < table->columns; i++) {
        const char *title =
            table->shape == REPORT_SHAPE_CSV ? table->column[i].key : table->column[i].title;

        put_cell(table, &line, i, title, strlen(title), true);
    }
    line_end(&line);
    if (table->shape != REPORT_SHAPE_TABLE)
        return;
    for (size_t i = 0; i < table->columns; i++) {
        line_repeat(&line, '-', abs(table->column[i].width));
        line_repeat(&line, ' ', 1);
    }
    line_end(&line);
}

/* Puts the cells from the i-th on, and ends the line. */
static void put_cells(struct report_table *table, struct line *line, size_t i,
                      const struct report_row *row)
{
    char padded[REPORT_CELL_MAX] = "";

    for (; i < table->columns; i++) {
        const struct report_field *field = table->column[i].field;
        char *text = table->shape == REPORT_SHAPE_TABLE ? padded : line_room(line);
        size_t length = table->shape == REPORT_SHAPE_CSV
                            ? report_format_raw(row, field, &table->terms, text)
                            : report_format_cell(row, field, &table->terms, text);

        if (report_field_is_text(field))
            text_clean(text);
        put_cell(table, line, i, text, length, false);
    }
    line_end(line);
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
    struct line line;

    line_begin(&line, table->out);
    put_cells(table, &line, 0, row);
}

void report_table_sum(struct report_table *table, const struct report_row *row, const char *name)
{
    struct line line;

    line_begin(&line, table->out);
    put_cell(table, &line, 0, name, strlen(name), true);
    put_cells(table, &line, 1, row);
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
