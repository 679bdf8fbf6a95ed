/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json - see json.h */
#include "packer/base/json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
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

#define STRICT (JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS)

static struct json_object *parse(const char *text, size_t length, int flags,
                                 struct berth_error *err)
{
    struct json_tokener *tokener = json_tokener_new_ex(16);
    struct json_object *object = NULL;
    enum json_tokener_error why;
    size_t end;

    if (!tokener || length > INT32_MAX) {
        berth_error_set(err, "JSON: too large");
        goto out;
    }
    json_tokener_set_flags(tokener, flags);
    object = json_tokener_parse_ex(tokener, text, (int)length);
    why = json_tokener_get_error(tokener);
    end = json_tokener_get_parse_end(tokener);
    if (why == json_tokener_continue && length > 0) { /* a bare number needs to see its end */
        object = json_tokener_parse_ex(tokener, "\n", 1);
        why = json_tokener_get_error(tokener);
        end = length;
    }
    if (only_blanks(text, length))
        berth_error_set(err, "not JSON: empty");
    else if (why == json_tokener_continue)
        berth_error_set(err, "not JSON at byte %zu: it ends before the value does", end);
    else if (why != json_tokener_success)
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

/* Says whether this json-c, where it is strict, takes bytes above 127 in a string. 0.18 takes them
 * for control characters (its issues 875 and 892). It is asked, once, not told by its version:
 * distributions mend theirs. */
static bool strict_takes_all(void)
{
    static const char probe[] = "\"\xc3\xa4\"";
    static _Atomic int takes = -1;
    struct json_object *object;

    if (takes < 0) {
        object = parse(probe, sizeof(probe) - 1, STRICT, NULL);
        takes = object != NULL;
        json_object_put(object);
    }
    return takes;
}

/* Parses where bytes above 127 are not taken: the text is proved by a copy in which these are
 * question marks, which can stand where they can, and read without being strict. */
static struct json_object *parse_proved(const char *text, size_t length, struct berth_error *err)
{
    char *copy = malloc(length);
    struct json_object *proof;

    if (!copy) {
        berth_no_memory(err);
        return NULL;
    }
    for (size_t i = 0; i < length; i++)
        copy[i] = text[i] & 0x80 ? '?' : text[i];
    proof = parse(copy, length, STRICT, err);
    free(copy);
    if (!proof)
        return NULL;
    json_object_put(proof);
    return parse(text, length, STRICT & ~JSON_TOKENER_STRICT, err);
}

static bool is_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] & 0x80)
            return false;
    return true;
}

struct json_object *json_parse(const char *text, size_t length, struct berth_error *err)
{
    if (is_ascii(text, length) || strict_takes_all())
        return parse(text, length, STRICT, err);
    return parse_proved(text, length, err);
}

void json_add(struct json_object *object, const char *key, struct json_object *value)
{
    if (object && json_object_object_add(object, key, value) == 0)
        return;
    json_object_put(value);
    errno = ENOMEM;
}

void json_append(struct json_object *array, struct json_object *value)
{
    if (array && json_object_array_add(array, value) == 0)
        return;
    json_object_put(value);
    errno = ENOMEM;
}

void json_add_text(struct json_object *object, const char *key, const char *text)
{
    json_add(object, key, text ? json_object_new_string(text) : NULL);
}

void json_add_u64(struct json_object *object, const char *key, uint64_t value)
{
    json_add(object, key, json_object_new_uint64(value));
}

void json_add_double(struct json_object *object, const char *key, double value)
{
    json_add(object, key, json_object_new_double(value));
}

void json_add_measure(struct json_object *object, const char *key, double value)
{
    json_add(object, key, isfinite(value) && value >= 0 ? json_object_new_double(value) : NULL);
}

void json_add_number(struct json_object *object, const char *key, double value)
{
    json_add(object, key, isfinite(value) ? json_object_new_double(value) : NULL);
}

void json_add_bool(struct json_object *object, const char *key, bool value)
{
    json_add(object, key, json_object_new_boolean(value));
}

void json_add_cpus(struct json_object *object, const char *key, const struct cpus *set)
{
    char text[CPUS_TEXT_MAX];

    if (cpus_format(set, text, sizeof(text)) == 0)
        json_add_text(object, key, text);
}
