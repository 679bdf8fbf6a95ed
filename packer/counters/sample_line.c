/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_line - see counters/sample_line.h. Text only: no file is opened here. */
#include "packer/counters/sample_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/base/text.h"

static const char step_expected[] = "step: the name of a step expected, 1 to 255 bytes";

static int check(const char *name, double value, double most, struct berth_error *err)
{
    if (!(value >= 0 && value <= most))
        return berth_error_set(err, "%s: %.12g: between 0 and %.12g expected", name, value, most);
    return 0;
}

/* Far beyond what a counter can reach, and still whole in a double. */
#define COUNT_MAX 0x1p64
#define TIME_MAX 1e12

size_t sample_line_values(const struct counters_sample *sample)
{
    size_t values = sample->nodes + (sample->by_node ? by_node_numbers(sample->by_node) : 0);

    for (int i = 0; i < COUNTERS; i++)
        if (counters_know(sample, (enum counter)i))
            values += 1 + (sample->error[i] > 0);
    return values;
}

/* ---- JSON ---- */

/* A count; the text that is read back exactly. */
static const struct json_field count_item = {
    .kind = JSON_NUMBER, .need = JSON_REQUIRED, .max = COUNT_MAX, .format = "%.17g"};

/* Returns any number as such a text. */
static struct json_object *new_number(double value)
{
    char text[32];

    snprintf(text, sizeof(text), "%.17g", value);
    return json_object_new_double_s(value, text);
}

static void add_errors(struct json_object *object, const struct counters_sample *sample)
{
    struct json_object *errors = NULL;

    for (int i = 0; i < COUNTERS; i++) {
        if (!counters_know(sample, (enum counter)i) || !(sample->error[i] > 0))
            continue;
        if (!errors)
            json_add(object, "error", errors = json_object_new_object());
        json_add(errors, counter_info[i].name, new_number(sample->error[i]));
    }
}

void sample_line_add(struct json_object *object, const struct counters_sample *sample)
{
    for (int i = 0; i < COUNTERS; i++)
        if (counters_know(sample, (enum counter)i))
            json_add(object, counter_info[i].name, new_number(sample->value[i]));
    if (sample->nodes > 0)
        json_add(object, "rss_node",
                 json_new_list(sample->nodes, &count_item, sample->rss_node,
                               sizeof(sample->rss_node[0])));
    if (sample->by_node && sample->by_node->known)
        json_add(object, "by_node", by_node_json(sample->by_node));
    add_errors(object, sample);
}

static int take_nodes(struct json_object *object, struct counters_sample *sample,
                      struct berth_error *err)
{
    struct json_object *list = NULL;
    size_t n;

    if (json_get_array(object, "rss_node", JSON_OPTIONAL, &list, err) < 0)
        return -1;
    n = list ? json_object_array_length(list) : 0;
    if (n > COUNTERS_NODES_MAX)
        return berth_error_set(err, "rss_node: at most %d nodes expected", COUNTERS_NODES_MAX);
    sample->nodes = n;
    return list ? json_get_list(list, "rss_node", n, &count_item, sample->rss_node,
                                sizeof(sample->rss_node[0]), err)
                : 0;
}

static int take_by_node(struct json_object *object, struct counters_sample *sample,
                        struct berth_error *err)
{
    struct json_object *by = NULL;

    if (json_get_object(object, "by_node", JSON_OPTIONAL, &by, err) < 0)
        return -1;
    if (by && by_node_take(by, sample->by_node, err) < 0)
        return berth_error_before(err, "by_node.");
    return 0;
}

/* Errors of counters that are known; others are nobody's. */
static int take_errors(struct json_object *object, struct counters_sample *sample,
                       struct berth_error *err)
{
    struct json_object *errors = NULL;

    if (json_get_object(object, "error", JSON_OPTIONAL, &errors, err) < 0)
        return -1;
    for (int i = 0; errors && i < COUNTERS; i++) {
        struct json_field field = {
            .name = counter_info[i].name, .kind = JSON_NUMBER, .max = TIME_MAX};

        if (counters_know(sample, (enum counter)i) &&
            json_get(errors, &field, &sample->error[i], err) < 0)
            return berth_error_before(err, "error.");
    }
    return 0;
}

int sample_line_take(struct json_object *object, struct counters_sample *sample, struct by_node *by,
                     struct berth_error *err)
{
    static const struct json_field at = {
        .name = "at", .kind = JSON_NUMBER, .need = JSON_REQUIRED, .max = TIME_MAX};

    *by = (struct by_node){.nodes = 0};
    *sample = (struct counters_sample){.by_node = by};
    if (json_get(object, &at, &sample->at_s, err) < 0)
        return -1;
    for (int i = 0; i < COUNTERS; i++) {
        struct json_field field = count_item;
        double value = NAN;

        field.name = counter_info[i].name;
        field.need = JSON_OPTIONAL;
        if (json_get(object, &field, &value, err) < 0)
            return -1;
        if (!isnan(value))
            counters_set(sample, (enum counter)i, value);
    }
    if (take_nodes(object, sample, err) < 0 || take_by_node(object, sample, err) < 0)
        return -1;
    return take_errors(object, sample, err);
}

char *sample_line_json(const char *step, const struct counters_sample *sample)
{
    struct json_object *object = json_object_new_object();
    const char *text;
    char *line;

    json_add_u64(object, "version", SAMPLES_VERSION);
    json_add_text(object, "step", step);
    json_add(object, "at", new_number(sample->at_s));
    sample_line_add(object, sample);
    text = json_object_to_json_string_ext(object,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    if (!text || asprintf(&line, "%s\n", text) < 0)
        line = NULL;
    json_object_put(object);
    return line;
}

static int read_object(struct json_object *object, char step[SAMPLES_NAME_MAX],
                       struct counters_sample *sample, struct by_node *by, struct berth_error *err)
{
    uint32_t version = SAMPLES_VERSION;

    if (!json_object_is_type(object, json_type_object))
        return berth_error_set(err, "a JSON object expected, not %s",
                               json_type_to_name(json_object_get_type(object)));
    if (json_get_u32(object, "version", JSON_OPTIONAL, &version, err) < 0)
        return -1;
    if (version != SAMPLES_VERSION)
        return berth_error_set(err, "version: %u: %d expected", version, SAMPLES_VERSION);
    step[0] = '\0';
    if (json_get_text(object, "step", JSON_OPTIONAL, step, SAMPLES_NAME_MAX, err) < 0)
        return -1;
    if (!step[0])
        return berth_error_set(err, "%s", step_expected);
    return sample_line_take(object, sample, by, err);
}

int sample_line_read_json(const char *line, size_t length, char step[SAMPLES_NAME_MAX],
                          struct counters_sample *sample, struct by_node *by,
                          struct berth_error *err)
{
    struct json_object *object = json_parse(line, length, err);
    int rc;

    if (!object)
        return -1;
    rc = read_object(object, step, sample, by, err);
    json_object_put(object);
    return rc;
}

/* ---- CSV ---- */

enum { COLUMN_STEP = -1, COLUMN_AT = -2, COLUMN_OTHER = -3 };

char *sample_line_csv_header(void)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    fputs("step,at", out);
    for (int i = 0; i < COUNTERS; i++)
        fprintf(out, ",%s", counter_info[i].name);
    fputc('\n', out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *sample_line_csv(const char *step, const struct counters_sample *sample)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    text_put_csv(out, step);
    fprintf(out, ",%.17g", sample->at_s);
    for (int i = 0; i < COUNTERS; i++) {
        fputc(',', out);
        if (counters_know(sample, (enum counter)i))
            fprintf(out, "%.17g", sample->value[i]);
    }
    fputc('\n', out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

struct cells {
    const char *at, *end; /* what is left of the line */
    bool more;            /* there is a cell at `at` */
};

static struct cells cells_of(const char *line, size_t length)
{
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
        length--;
    return (struct cells){.at = line, .end = line + length, .more = true};
}

/* The next cell, without its quotes. 1, 0 after the last one, or -1 and err. */
static int next_cell(struct cells *cells, char cell[SAMPLES_NAME_MAX], struct berth_error *err)
{
    bool quoted = cells->more && cells->at < cells->end && *cells->at == '"', open = quoted;
    size_t n = 0;

    if (!cells->more)
        return 0;
    for (cells->at += quoted; cells->at < cells->end && (open || *cells->at != ','); cells->at++) {
        if (open && *cells->at == '"' && (cells->at + 1 == cells->end || cells->at[1] != '"')) {
            open = false;
            continue;
        }
        cells->at += open && *cells->at == '"';
        if (n == SAMPLES_NAME_MAX - 1 || (quoted && !open) || *cells->at == '\0')
            return berth_error_set(err,
                                   "a cell: at most %d bytes expected, none of them NUL, and "
                                   "nothing after its closing quote",
                                   SAMPLES_NAME_MAX - 1);
        cell[n++] = *cells->at;
    }
    if (open)
        return berth_error_set(err, "a cell: a closing quote expected");
    cell[n] = '\0';
    cells->more = cells->at < cells->end;
    cells->at += cells->more;
    return 1;
}

static int column_of(const char *name)
{
    int counter = counter_by_name(name);

    if (strcmp(name, "step") == 0)
        return COLUMN_STEP;
    if (strcmp(name, "at") == 0)
        return COLUMN_AT;
    return counter >= 0 ? counter : COLUMN_OTHER;
}

static bool has_column(const struct sample_line_columns *columns, int column)
{
    for (size_t i = 0; i < columns->n; i++)
        if (columns->column[i] == column)
            return true;
    return false;
}

int sample_line_read_header(const char *line, size_t length, struct sample_line_columns *columns,
                            struct berth_error *err)
{
    struct cells cells = cells_of(line, length);
    char cell[SAMPLES_NAME_MAX];
    int rc;

    columns->n = 0;
    while ((rc = next_cell(&cells, cell, err)) == 1) {
        int column = column_of(cell);

        if (columns->n == SAMPLES_COLUMNS_MAX)
            return berth_error_set(err, "at most %d columns expected", SAMPLES_COLUMNS_MAX);
        if (column != COLUMN_OTHER && has_column(columns, column))
            return berth_error_set(err, "%s: one column of that name expected", cell);
        columns->column[columns->n++] = column;
    }
    if (rc < 0)
        return -1;
    if (!has_column(columns, COLUMN_STEP) || !has_column(columns, COLUMN_AT))
        return berth_error_set(err, "a JSON object, or a CSV header with the columns step and at "
                                    "expected");
    return 0;
}

/* A number as people write it, without hexadecimal, infinity or the like. */
static int read_number(const char *name, const char *cell, double most, double *value,
                       struct berth_error *err)
{
    size_t blanks = strspn(cell, " "), digits = strspn(cell + blanks, "0123456789+-.eE");
    char *end;

    *value = strtod(cell, &end);
    if (digits == 0 || end != cell + blanks + digits || end[strspn(end, " ")] != '\0')
        return berth_error_set(err, "%s: '%.40s': a number expected", name, cell);
    return check(name, *value, most, err);
}

static int take_cell(int column, const char *cell, char step[SAMPLES_NAME_MAX],
                     struct counters_sample *sample, struct berth_error *err)
{
    double value;

    if (column == COLUMN_STEP)
        strcpy(step, cell);
    if (column == COLUMN_AT)
        return read_number("at", cell, TIME_MAX, &sample->at_s, err);
    if (column < 0 || cell[0] == '\0')
        return 0;
    if (read_number(counter_info[column].name, cell, COUNT_MAX, &value, err) < 0)
        return -1;
    counters_set(sample, (enum counter)column, value);
    return 0;
}

int sample_line_read_csv(const char *line, size_t length, const struct sample_line_columns *columns,
                         char step[SAMPLES_NAME_MAX], struct counters_sample *sample,
                         struct berth_error *err)
{
    struct cells cells = cells_of(line, length);
    char cell[SAMPLES_NAME_MAX];
    size_t n = 0;
    int rc;

    *sample = (struct counters_sample){0};
    step[0] = '\0';
    for (; (rc = next_cell(&cells, cell, err)) == 1; n++)
        if (n < columns->n && take_cell(columns->column[n], cell, step, sample, err) < 0)
            return -1;
    if (rc < 0)
        return -1;
    if (n != columns->n)
        return berth_error_set(err, "%zu cells: %zu expected, as in the header", n, columns->n);
    return step[0] ? 0 : berth_error_set(err, "%s", step_expected);
}
