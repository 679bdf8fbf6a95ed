/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_put - see report_put.h */
#include "report_put.h"

#include <stdlib.h>
#include <string.h>

static int width_of(const struct report_column *column)
{
    return abs(column->width);
}

/* A byte that continues a UTF-8 character, which takes no column of its own. */
static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* C0, DEL and C1 (0xc2 0x80..0x9f in UTF-8) become '?': names must not drive a terminal, nor break
 * a line. */
static void clean(char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text, after = (unsigned char)text[1];

        if (c < 0x20 || c == 0x7f) {
            *text = '?';
        } else if (c == 0xc2 && after >= 0x80 && after <= 0x9f) {
            *text++ = '?';
            *text = '?';
        }
    }
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
    int width = width_of(column), used = 0;
    size_t cut = 0; /* where the last character that fits begins */

    for (size_t i = 0; i < length; i++)
        if (!continues(text[i]) && ++used == width)
            cut = i;
    if (column->width > 0)
        put_spaces(out, width - used);
    fwrite_unlocked(text, 1, used > width ? cut : length, out);
    if (used > width)
        putc_unlocked('+', out);
    if (column->width < 0)
        put_spaces(out, width - used);
    putc_unlocked(' ', out);
}

static void put_csv(FILE *out, const char *text, size_t length)
{
    if (!strpbrk(text, "\",\r\n")) {
        fwrite_unlocked(text, 1, length, out);
        return;
    }
    putc_unlocked('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc_unlocked('"', out);
        putc_unlocked(*text, out);
    }
    putc_unlocked('"', out);
}

static void put_cell(struct report_put *put, size_t i, const char *text, size_t length)
{
    const char *delimiter = put->shape == REPORT_SHAPE_CSV ? "," : put->delimiter;

    if (put->shape == REPORT_SHAPE_TABLE) {
        put_padded(put->out, &put->column[i], text, length);
        return;
    }
    if (put->shape == REPORT_SHAPE_CSV)
        put_csv(put->out, text, length);
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

        clean(text);
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
