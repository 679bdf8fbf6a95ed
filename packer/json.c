/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json - see json.h */
#include "json.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *json_text(struct json_object *value)
{
    const char *text =
        json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;

    return text && strlen(text) == (size_t)json_object_get_string_len(value) ? text : NULL;
}

/* Everything after the first value must be blank. */
static bool only_blanks(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isspace((unsigned char)text[i]))
            return false;
    return true;
}

struct json_object *json_parse(const char *text, size_t length, struct berth_error *err)
{
    struct json_tokener *tokener = json_tokener_new_ex(16);
    struct json_object *object = NULL;
    enum json_tokener_error why;
    size_t end;

    if (!tokener || length > INT32_MAX) {
        berth_error_set(err, "JSON: too large");
        goto out;
    }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
    object = json_tokener_parse_ex(tokener, text, (int)length);
    why = json_tokener_get_error(tokener);
    end = json_tokener_get_parse_end(tokener);
    if (why == json_tokener_continue && length > 0) { /* a bare number needs to see its end */
        object = json_tokener_parse_ex(tokener, "\n", 1);
        why = json_tokener_get_error(tokener);
        end = length;
    }
    if (why != json_tokener_success)
        berth_error_set(err, "not JSON at byte %zu: %s", end, json_tokener_error_desc(why));
    else if (!only_blanks(text + end, length - end))
        berth_error_set(err, "not JSON at byte %zu: text after the value", end);
    else if (!object)
        berth_error_set(err, "null where a value was expected");
    else
        goto out;
    json_object_put(object);
    object = NULL;
out:
    if (tokener)
        json_tokener_free(tokener);
    return object;
}

/* Find a field. 1 there, 0 missing (or null) and optional, -1 missing and required. */
static int find(struct json_object *object, const char *key, enum json_need need,
                struct json_object **field, struct berth_error *err)
{
    if (json_object_object_get_ex(object, key, field) && *field)
        return 1;
    return need == JSON_OPTIONAL ? 0 : berth_error_set(err, "%s: missing", key);
}

/* Find a field of one type. As find, and -1 when it has another type. */
static int find_type(struct json_object *object, const char *key, enum json_need need,
                     enum json_type type, struct json_object **field, struct berth_error *err)
{
    int found = find(object, key, need, field, err);

    if (found == 1 && !json_object_is_type(*field, type))
        return berth_error_set(err, "%s: %s expected, not %s", key, json_type_to_name(type),
                               json_type_to_name(json_object_get_type(*field)));
    return found;
}

int json_get_text(struct json_object *object, const char *key, enum json_need need, char *out,
                  size_t size, struct berth_error *err)
{
    struct json_object *field;
    int found = find_type(object, key, need, json_type_string, &field, err);
    const char *text;

    if (found != 1)
        return found;
    text = json_text(field);
    if (!text || strlen(text) >= size)
        return berth_error_set(err, "%s: longer than %zu bytes or with a NUL in it", key, size - 1);
    strcpy(out, text);
    return 0;
}

int json_get_u64(struct json_object *object, const char *key, enum json_need need, uint64_t *out,
                 struct berth_error *err)
{
    struct json_object *field;
    int found = find_type(object, key, need, json_type_int, &field, err);

    if (found != 1)
        return found;
    if (json_object_get_int64(field) < 0)
        return berth_error_set(err, "%s: negative", key);
    *out = json_object_get_uint64(field);
    return 0;
}

int json_get_u32(struct json_object *object, const char *key, enum json_need need, uint32_t *out,
                 struct berth_error *err)
{
    uint64_t value = *out;

    if (json_get_u64(object, key, need, &value, err) < 0)
        return -1;
    if (value > UINT32_MAX)
        return berth_error_set(err, "%s: greater than %u", key, UINT32_MAX);
    *out = (uint32_t)value;
    return 0;
}

int json_get_i64(struct json_object *object, const char *key, enum json_need need, int64_t *out,
                 struct berth_error *err)
{
    struct json_object *field;
    int found = find_type(object, key, need, json_type_int, &field, err);

    if (found == 1)
        *out = json_object_get_int64(field);
    return found < 0 ? -1 : 0;
}

int json_get_double(struct json_object *object, const char *key, enum json_need need, double *out,
                    struct berth_error *err)
{
    struct json_object *field;
    int found = find(object, key, need, &field, err);

    if (found != 1)
        return found;
    if (!json_object_is_type(field, json_type_double) && !json_object_is_type(field, json_type_int))
        return berth_error_set(err, "%s: number expected, not %s", key,
                               json_type_to_name(json_object_get_type(field)));
    if (!isfinite(json_object_get_double(field)))
        return berth_error_set(err, "%s: not a finite number", key);
    *out = json_object_get_double(field);
    return 0;
}

int json_get_bool(struct json_object *object, const char *key, enum json_need need, bool *out,
                  struct berth_error *err)
{
    struct json_object *field;
    int found = find_type(object, key, need, json_type_boolean, &field, err);

    if (found == 1)
        *out = json_object_get_boolean(field);
    return found < 0 ? -1 : 0;
}

int json_get_array(struct json_object *object, const char *key, enum json_need need,
                   struct json_object **out, struct berth_error *err)
{
    struct json_object *field;
    int found = find_type(object, key, need, json_type_array, &field, err);

    if (found == 1)
        *out = field;
    return found < 0 ? -1 : 0;
}

int json_get_object(struct json_object *object, const char *key, enum json_need need,
                    struct json_object **out, struct berth_error *err)
{
    struct json_object *field;
    int found = find_type(object, key, need, json_type_object, &field, err);

    if (found == 1)
        *out = field;
    return found < 0 ? -1 : 0;
}

/* "a, b, c" of the names into text[size]. */
static void join_names(const char *const *names, size_t n, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < n && used + strlen(names[i]) + 3 < size; i++) {
        if (i) {
            memcpy(text + used, ", ", 3);
            used += 2;
        }
        memcpy(text + used, names[i], strlen(names[i]) + 1);
        used += strlen(names[i]);
    }
}

int json_get_word(struct json_object *object, const char *key, enum json_need need,
                  const char *const *names, size_t n, int *out, struct berth_error *err)
{
    struct json_object *field;
    int found = find_type(object, key, need, json_type_string, &field, err);
    const char *text;
    char list[256];

    if (found != 1)
        return found;
    text = json_text(field);
    for (size_t i = 0; text && i < n; i++)
        if (strcmp(names[i], text) == 0) {
            *out = (int)i;
            return 0;
        }
    join_names(names, n, list, sizeof(list));
    return berth_error_set(err, "%s: '%.64s' is none of: %s", key, json_object_get_string(field),
                           list);
}

void json_add_text(struct json_object *object, const char *key, const char *text)
{
    json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

void json_add_u64(struct json_object *object, const char *key, uint64_t value)
{
    json_object_object_add(object, key, json_object_new_uint64(value));
}

void json_add_double(struct json_object *object, const char *key, double value)
{
    json_object_object_add(object, key, json_object_new_double(value));
}

void json_add_measure(struct json_object *object, const char *key, double value)
{
    json_object_object_add(object, key,
                           isfinite(value) && value >= 0 ? json_object_new_double(value) : NULL);
}

void json_add_bool(struct json_object *object, const char *key, bool value)
{
    json_object_object_add(object, key, json_object_new_boolean(value));
}

void json_add_cpus(struct json_object *object, const char *key, const struct cpus *set)
{
    char text[CPUS_TEXT_MAX];

    if (cpus_format(set, text, sizeof(text)) == 0)
        json_add_text(object, key, text);
}
