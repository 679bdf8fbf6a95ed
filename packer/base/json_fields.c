/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json_fields - see json_fields.h
 *
 * Errors are made from the inside out: what is wrong begins with ": ", and each array or object
 * that it is in puts its own "[1]" or ".name" before it. */
#include "packer/base/json_fields.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/nearest.h"
#include "packer/base/json_asked.h"
#include "enum_table.h"

const struct json_field json_number = {.kind = JSON_NUMBER, .need = JSON_REQUIRED};

/* ---- what a number may be ---- */

struct range {
    double min, max;
};

/* The table's range, as far as the member has room for it. */
static struct range range_of(const struct json_field *field)
{
    bool narrow = field->size == sizeof(uint32_t), any = field->min == 0 && field->max == 0;
    struct range range = {-HUGE_VAL, HUGE_VAL};

    if (field->kind == JSON_UNSIGNED)
        range = (struct range){0, narrow ? UINT32_MAX : HUGE_VAL};
    else if (field->kind == JSON_SIGNED && narrow)
        range = (struct range){INT32_MIN, INT32_MAX};
    if (!any && field->min > range.min)
        range.min = field->min;
    if (!any && field->max < range.max)
        range.max = field->max;
    return range;
}

static bool is_within(struct range range, double value)
{
    return isfinite(value) && value >= range.min && value <= range.max;
}

bool json_in_range(const struct json_field *field, double value)
{
    return is_within(range_of(field), value);
}

static bool is_whole(double value)
{
    return fabs(value) >= 0x1p63 || (double)(int64_t)value == value;
}

static int check_range(const struct json_field *field, double value, struct berth_error *err)
{
    struct range range = range_of(field);

    if (!isfinite(value))
        return berth_error_set(err, ": not a finite number");
    if (field->whole && !is_whole(value))
        return berth_error_set(err, ": %.12g: a whole number expected", value);
    if (is_within(range, value))
        return 0;
    if (isfinite(field->max) && field->max > field->min)
        return berth_error_set(err, ": %.12g: between %.12g and %.12g expected", value, range.min,
                               range.max);
    return value < range.min
               ? berth_error_set(err, ": %.12g: %.12g or more expected", value, range.min)
               : berth_error_set(err, ": %.12g: %.12g or less expected", value, range.max);
}

/* ---- reading ---- */

/* The type that a value of each kind has in JSON. A number may be an integer, too. */
static const enum json_type TABLE(type_of, JSON_KINDS) = {
    ROW(JSON_TEXT) = json_type_string,       ROW(JSON_BORROWED) = json_type_string,
    ROW(JSON_UNSIGNED) = json_type_int,      ROW(JSON_SIGNED) = json_type_int,
    ROW(JSON_NUMBER) = json_type_double,     ROW(JSON_BOOL) = json_type_boolean,
    ROW(JSON_WORD) = json_type_string,       ROW(JSON_CPUS) = json_type_string,
    ROW(JSON_STRUCT) = json_type_object,     ROW(JSON_TUPLE) = json_type_array,
    ROW(JSON_LIST) = json_type_array,        ROW(JSON_ANY_ARRAY) = json_type_array,
    ROW(JSON_ANY_OBJECT) = json_type_object, ROW(JSON_ROWS) = json_type_array,
};
TABLE_COMPLETE(type_of);

static int check_type(const struct json_field *field, struct json_object *value,
                      struct berth_error *err)
{
    enum json_type wanted = type_of[field->kind], type = json_object_get_type(value);

    if (type == wanted || (type == json_type_int && wanted == json_type_double) ||
        field->kind == JSON_TUPLE) /* read_tuple says what it is of */
        return 0;
    return berth_error_set(err, ": %s expected, not %s",
                           wanted == json_type_double ? "number" : json_type_to_name(wanted),
                           json_type_to_name(type));
}

/* The text of a field that has from field->min to `most` bytes; NULL and err. */
static const char *text_of(const struct json_field *field, struct json_object *value, size_t most,
                           struct berth_error *err)
{
    const char *text = json_text(value);
    size_t length = text ? strlen(text) : 0;

    if (text && length <= most && (double)length >= field->min)
        return text;
    berth_error_set(err, ": %g to %zu bytes expected, none of them NUL", field->min, most);
    return NULL;
}

static int read_text(const struct json_field *field, struct json_object *value, char *out,
                     struct berth_error *err)
{
    const char *text = text_of(field, value, field->size - 1, err);

    if (text)
        strcpy(out, text);
    return text ? 0 : -1;
}

static int read_borrowed(const struct json_field *field, struct json_object *value,
                         const char **out, struct berth_error *err)
{
    const char *text = text_of(field, value, (size_t)field->max, err);

    if (text)
        *out = text;
    return text ? 0 : -1;
}

static int read_number(const struct json_field *field, struct json_object *value, void *out,
                       struct berth_error *err)
{
    double number = json_object_get_double(value);

    if (check_range(field, number, err) < 0)
        return -1;
    if (field->kind == JSON_NUMBER)
        *(double *)out = number;
    else if (field->size == sizeof(uint32_t))
        *(uint32_t *)out = (uint32_t)json_object_get_int64(value);
    else if (field->kind == JSON_SIGNED)
        *(int64_t *)out = json_object_get_int64(value);
    else
        *(uint64_t *)out = json_object_get_uint64(value);
    return 0;
}

/* "a, b, c" of the words into text[size], as many as there is room for. */
static void join_words(const struct json_field *field, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < field->n; i++)
        if (field->words[i] && used + strlen(field->words[i]) + 3 < size)
            used += (size_t)sprintf(text + used, "%s%s", used ? ", " : "", field->words[i]);
}

static const char *say_meant(const struct json_field *field, const char *typed,
                             char meant[NEAREST_SAY_MAX])
{
    struct nearest nearest = nearest_begin(typed);

    for (size_t i = 0; i < field->n; i++)
        if (field->words[i])
            nearest_try(&nearest, field->words[i]);
    return nearest_say(&nearest, meant);
}

static int read_word(const struct json_field *field, struct json_object *value, int *out,
                     struct berth_error *err)
{
    const char *text = json_text(value);
    char list[256], meant[NEAREST_SAY_MAX];

    for (size_t i = 0; text && i < field->n; i++)
        if (field->words[i] && strcmp(field->words[i], text) == 0) {
            *out = (int)i;
            return 0;
        }
    join_words(field, list, sizeof(list));
    return berth_error_set(err, ": '%.64s' is none of: %s%s", json_object_get_string(value), list,
                           say_meant(field, text ? text : "", meant));
}

static int read_cpus(struct json_object *value, struct cpus *out, struct berth_error *err)
{
    const char *text = json_text(value);

    if (text && cpus_parse(out, text) == 0)
        return 0;
    return berth_error_set(err, ": '%.64s': a list such as 0-5,12 expected",
                           json_object_get_string(value));
}

static int read_value(const struct json_field *field, struct json_object *value, void *out,
                      struct berth_error *err);

/* Reads a field of the struct `into`, where it is there, and whether it is. */
static int read_field(const struct json_field *field, struct json_object *value, void *into,
                      struct berth_error *err)
{
    char *at = into;

    if (field->given)
        *(bool *)(at + field->given - 1) = value != NULL;
    return read_value(field, value, at + field->offset, err) < 0
               ? berth_error_before(err, ".%s", field->name)
               : 0;
}

static int read_struct(const struct json_field *fields, struct json_object *object, void *into,
                       struct berth_error *err)
{
    for (const struct json_field *field = fields; field->name; field++)
        json_asked_note(object, field->name); /* also those behind the first one that is wrong */
    for (; fields->name; fields++)
        if (read_field(fields, json_find(object, fields->name), into, err) < 0)
            return -1;
    return 0;
}

static int read_tuple(const struct json_field *fields, struct json_object *list, void *into,
                      struct berth_error *err)
{
    char names[128] = "";
    size_t n = 0;

    for (; fields[n].name; n++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", n ? ", " : "",
                 fields[n].name);
    if (!json_object_is_type(list, json_type_array) || json_object_array_length(list) != n)
        return berth_error_set(err, ": [%s] expected", names);
    for (size_t i = 0; i < n; i++)
        if (read_field(&fields[i], json_object_array_get_idx(list, i), into, err) < 0)
            return -1;
    return 0;
}

static int read_list(const struct json_field *field, struct json_object *list, char *first,
                     struct berth_error *err)
{
    size_t n = json_object_array_length(list);

    if (n != field->n)
        return berth_error_set(err, ": %zu elements expected, not %zu", field->n, n);
    for (size_t i = 0; i < n; i++)
        if (read_value(field->fields, json_object_array_get_idx(list, i),
                       first + i * (field->size / n), err) < 0)
            return berth_error_before(err, "[%zu]", i);
    return 0;
}

static size_t *count_of(const struct json_field *rows, void *at)
{
    return (size_t *)(void *)((char *)at + rows->count);
}

/* Allocates elements, and reads them. */
static int read_rows(const struct json_field *field, struct json_object *list, char **out,
                     struct berth_error *err)
{
    size_t n = json_object_array_length(list);

    if (n == 0 && field->min > 0)
        return berth_error_set(err, ": empty");
    if (field->max > 0 && (double)n > field->max)
        return berth_error_set(err, ": at most %g expected, not %zu", field->max, n);
    *out = calloc(n + 1, field->size);
    if (!*out)
        return berth_error_set(err, ": %s", strerror(ENOMEM));
    *count_of(field, out) = n;
    for (size_t i = 0; i < n; i++) {
        char *at = *out + i * field->size;

        if (field->unset)
            memcpy(at, field->unset, field->size);
        if (read_value(field->fields, json_object_array_get_idx(list, i), at, err) < 0)
            return berth_error_before(err, "[%zu]", i);
    }
    return 0;
}

static int read_present(const struct json_field *field, struct json_object *value, void *out,
                        struct berth_error *err)
{
    switch (field->kind) {
    case JSON_TEXT:
        return read_text(field, value, out, err);
    case JSON_BORROWED:
        return read_borrowed(field, value, out, err);
    case JSON_BOOL:
        *(bool *)out = json_object_get_boolean(value);
        return 0;
    case JSON_WORD:
        return read_word(field, value, out, err);
    case JSON_CPUS:
        return read_cpus(value, out, err);
    case JSON_STRUCT:
        return read_struct(field->fields, value, out, err);
    case JSON_TUPLE:
        return read_tuple(field->fields, value, out, err);
    case JSON_LIST:
        return read_list(field, value, out, err);
    case JSON_ROWS:
        return read_rows(field, value, out, err);
    case JSON_ANY_ARRAY:
    case JSON_ANY_OBJECT:
        *(struct json_object **)out = value;
        return 0;
    default:
        return read_number(field, value, out, err);
    }
}

/* Reads a value, NULL where it is missing or null. */
static int read_value(const struct json_field *field, struct json_object *value, void *out,
                      struct berth_error *err)
{
    if (!value)
        return field->need == JSON_OPTIONAL ? 0 : berth_error_set(err, ": missing");
    return check_type(field, value, err) < 0 ? -1 : read_present(field, value, out, err);
}

int json_read(struct json_object *object, const struct json_field *fields, void *into,
              struct berth_error *err)
{
    struct json_field whole = {.kind = JSON_STRUCT, .need = JSON_REQUIRED, .fields = fields};

    if (read_value(&whole, object, into, err) == 0)
        return 0;
    if (err) /* nothing stands before the first '.' or ": " */
        memmove(err->text, err->text + (err->text[0] == '.' ? 1 : 2), sizeof(err->text) - 2);
    return -1;
}

int json_get(struct json_object *object, const struct json_field *field, void *out,
             struct berth_error *err)
{
    struct json_object *value = json_find(object, field->name);

    return read_value(field, value, out, err) < 0 ? berth_error_before(err, "%s", field->name) : 0;
}

/* A list of n values, one every `stride` bytes. */
static struct json_field list_of(size_t n, const struct json_field *item, size_t stride)
{
    return (struct json_field){
        .kind = JSON_LIST, .need = JSON_REQUIRED, .size = n * stride, .n = n, .fields = item};
}

int json_get_list(struct json_object *list, const char *name, size_t n,
                  const struct json_field *item, void *first, size_t stride,
                  struct berth_error *err)
{
    struct json_field field = list_of(n, item, stride);

    return read_value(&field, list, first, err) < 0 ? berth_error_before(err, "%s", name) : 0;
}

int json_get_matrix(struct json_object *list, const char *name, size_t rows, size_t n,
                    const struct json_field *item, void *first, size_t stride,
                    struct berth_error *err)
{
    struct json_field row = list_of(n, item, stride);

    return json_get_list(list, name, rows, &row, first, row.size, err);
}

/* ---- freeing ---- */

static void clear_value(const struct json_field *field, char *at)
{
    size_t n = field->kind == JSON_LIST ? field->n : 0, size = n ? field->size / n : field->size;
    char *first = at;

    if (field->kind == JSON_STRUCT)
        json_clear(field->fields, at);
    if (field->kind == JSON_ROWS) {
        first = *(char **)(void *)at;
        n = *count_of(field, at);
    }
    for (size_t i = 0; i < n; i++)
        clear_value(field->fields, first + i * size);
    if (field->kind != JSON_ROWS)
        return;
    free(first);
    *(char **)(void *)at = NULL;
    *count_of(field, at) = 0;
}

void json_clear(const struct json_field *fields, void *of)
{
    for (; fields && fields->name; fields++)
        clear_value(fields, (char *)of + fields->offset);
}

/* ---- writing ---- */

static struct json_object *new_number(const struct json_field *field, double number)
{
    char text[64];

    if (!json_in_range(field, number))
        return NULL;
    if (field->whole)
        return json_object_new_int64((int64_t)number);
    if (!field->format)
        return json_object_new_double(number);
    snprintf(text, sizeof(text), field->format, number);
    return json_object_new_double_s(number, text);
}

static struct json_object *new_integer(const struct json_field *field, const void *at)
{
    bool narrow = field->size == sizeof(uint32_t), is_signed = field->kind == JSON_SIGNED;
    int64_t i = narrow ? *(const int32_t *)at : *(const int64_t *)at;
    uint64_t u = narrow ? *(const uint32_t *)at : *(const uint64_t *)at;

    if (!json_in_range(field, is_signed ? (double)i : (double)u))
        return NULL;
    return is_signed ? json_object_new_int64(i) : json_object_new_uint64(u);
}

static struct json_object *new_cpus(const struct cpus *cpus)
{
    char text[CPUS_TEXT_MAX];

    return cpus_format(cpus, text, sizeof(text)) == 0 ? json_object_new_string(text) : NULL;
}

static struct json_object *new_word(const struct json_field *field, int word)
{
    return word >= 0 && (size_t)word < field->n && field->words[word]
               ? json_object_new_string(field->words[word])
               : NULL;
}

static struct json_object *new_text(const struct json_field *field, const char *text)
{
    size_t length = strnlen(text, field->size);

    return (double)length < field->min ? NULL : json_object_new_string_len(text, (int)length);
}

static struct json_object *new_borrowed(const char *text)
{
    return json_object_new_string(text ? text : "");
}

static struct json_object *new_struct(const struct json_field *fields, const void *from)
{
    struct json_object *object = json_object_new_object();

    json_write(object, fields, from);
    return object;
}

static struct json_object *new_tuple(const struct json_field *fields, const void *from);

static struct json_object *new_value(const struct json_field *field, const void *at)
{
    switch (field->kind) {
    case JSON_TEXT:
        return new_text(field, at);
    case JSON_BORROWED:
        return new_borrowed(*(const char *const *)at);
    case JSON_NUMBER:
        return new_number(field, *(const double *)at);
    case JSON_BOOL:
        return json_object_new_boolean(*(const bool *)at);
    case JSON_WORD:
        return new_word(field, *(const int *)at);
    case JSON_CPUS:
        return new_cpus(at);
    case JSON_STRUCT:
        return new_struct(field->fields, at);
    case JSON_TUPLE:
        return new_tuple(field->fields, at);
    case JSON_LIST:
        return json_new_list(field->n, field->fields, at, field->n ? field->size / field->n : 0);
    case JSON_ROWS:
        return json_new_list(*(const size_t *)(const void *)((const char *)at + field->count),
                             field->fields, *(const void *const *)at, field->size);
    case JSON_ANY_ARRAY:
    case JSON_ANY_OBJECT:
        return json_object_get(*(struct json_object *const *)at);
    default:
        return new_integer(field, at);
    }
}

/* A field of the struct `from`; NULL where it is not given. */
static struct json_object *new_field(const struct json_field *field, const void *from)
{
    const char *at = from;

    if (field->given && !*(const bool *)(at + field->given - 1))
        return NULL;
    return new_value(field, at + field->offset);
}

static struct json_object *new_tuple(const struct json_field *fields, const void *from)
{
    struct json_object *list = json_object_new_array_ext(2);

    for (; list && fields->name; fields++)
        json_append(list, new_field(fields, from));
    return list;
}

void json_write(struct json_object *object, const struct json_field *fields, const void *from)
{
    for (; object && fields->name; fields++)
        json_object_object_add_ex(object, fields->name, new_field(fields, from),
                                  JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_ADD_CONSTANT_KEY);
}

struct json_object *json_new_list(size_t n, const struct json_field *item, const void *first,
                                  size_t stride)
{
    struct json_object *list = json_object_new_array_ext((int)n);

    for (size_t i = 0; list && i < n; i++)
        json_append(list, new_value(item, (const char *)first + i * stride));
    return list;
}

struct json_object *json_new_matrix(size_t rows, size_t n, const struct json_field *item,
                                    const void *first, size_t stride)
{
    struct json_field row = list_of(n, item, stride);

    return json_new_list(rows, &row, first, row.size);
}

/* ---- one field, without a table ---- */

/* clang-format off */
#define GETTER(what, type, of)                                                                     \
    int json_get_##what(struct json_object *object, const char *key, enum json_need need,          \
                        type *out, struct berth_error *err)                                        \
    {                                                                                              \
        struct json_field field = {.name = key, .kind = of, .need = need, .size = sizeof(*out)};   \
                                                                                                   \
        return json_get(object, &field, out, err);                                                 \
    }
GETTER(u32, uint32_t, JSON_UNSIGNED)
GETTER(u64, uint64_t, JSON_UNSIGNED)
GETTER(i64, int64_t, JSON_SIGNED)
GETTER(double, double, JSON_NUMBER)
GETTER(bool, bool, JSON_BOOL)
GETTER(array, struct json_object *, JSON_ANY_ARRAY)
GETTER(object, struct json_object *, JSON_ANY_OBJECT)
/* clang-format on */

int json_get_text(struct json_object *object, const char *key, enum json_need need, char *out,
                  size_t size, struct berth_error *err)
{
    struct json_field field = {.name = key, .kind = JSON_TEXT, .need = need, .size = size};

    return json_get(object, &field, out, err);
}

int json_get_word(struct json_object *object, const char *key, enum json_need need,
                  const char *const *names, size_t n, int *out, struct berth_error *err)
{
    struct json_field field = {
        .name = key, .kind = JSON_WORD, .need = need, .words = names, .n = n};

    return json_get(object, &field, out, err);
}
