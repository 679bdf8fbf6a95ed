/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json - see json.h */
#include "packer/base/json.h"

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

/* Adds a value, if there is an object to add it to. */
static void add(struct json_object *object, const char *key, struct json_object *value)
{
    if (object)
        json_object_object_add(object, key, value);
    else
        json_object_put(value);
}

void json_add_text(struct json_object *object, const char *key, const char *text)
{
    add(object, key, text ? json_object_new_string(text) : NULL);
}

void json_add_u64(struct json_object *object, const char *key, uint64_t value)
{
    add(object, key, json_object_new_uint64(value));
}

void json_add_double(struct json_object *object, const char *key, double value)
{
    add(object, key, json_object_new_double(value));
}

void json_add_measure(struct json_object *object, const char *key, double value)
{
    add(object, key, isfinite(value) && value >= 0 ? json_object_new_double(value) : NULL);
}

void json_add_bool(struct json_object *object, const char *key, bool value)
{
    add(object, key, json_object_new_boolean(value));
}

void json_add_cpus(struct json_object *object, const char *key, const struct cpus *set)
{
    char text[CPUS_TEXT_MAX];

    if (cpus_format(set, text, sizeof(text)) == 0)
        json_add_text(object, key, text);
}
