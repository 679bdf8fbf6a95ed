/* SPDX-License-Identifier: GPL-2.0-or-later */
/* comment - see comment.h.
 *
 * A JSON object of others is not printed anew, which would change how its numbers are written: the
 * member is put before its last brace. Only a member that is replaced makes it be printed again. */
#include "packer/settle/comment.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"

#define MEMBER "berth"
#define PLAIN (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

/* The text as a JSON object, or NULL. */
static struct json_object *object_of(const char *text, size_t length)
{
    struct berth_error err;
    struct json_object *value = json_parse(text, length, &err);

    if (value && json_object_is_type(value, json_type_object))
        return value;
    json_object_put(value);
    return NULL;
}

/* The object with its member replaced, if it is another one. */
static char *replaced(const char *old, struct json_object *object, struct json_object *figures)
{
    if (json_object_equal(json_object_object_get(object, MEMBER), figures))
        return strdup(old);
    json_add(object, MEMBER, json_object_get(figures));
    return strdup(json_object_to_json_string_ext(object, PLAIN));
}

/* The first `keep` bytes, what goes between, and the member with the brace that closes it. */
static char *joined(const char *old, size_t keep, const char *between, const char *figures)
{
    char *text;

    if (asprintf(&text, "%.*s%s\"" MEMBER "\":%s}", (int)keep, old, between, figures) < 0)
        return NULL;
    return text;
}

/* The text of an object, its last brace left out, with one more member. */
static char *extended(const char *old, struct json_object *object, const char *figures)
{
    return joined(old, (size_t)(strrchr(old, '}') - old),
                  json_object_object_length(object) ? "," : "", figures);
}

/* Where our own object begins at the end of other text; its length where there is none. */
static size_t own_part(const char *old)
{
    static const char begin[] = "{\"" MEMBER "\":";
    const char *at = old, *next;
    struct json_object *object;

    while ((next = strstr(at, begin))) {
        object = object_of(next, strlen(next));
        if (object) {
            json_object_put(object);
            return (size_t)(next - old);
        }
        at = next + 1;
    }
    return strlen(old);
}

/* Behind text that is not ours. */
static char *appended(const char *old, const char *figures)
{
    size_t keep = own_part(old);

    return joined(old, keep, keep && old[keep - 1] != ' ' ? " {" : "{", figures);
}

static char *merge(const char *old, struct json_object *figures)
{
    struct json_object *object = object_of(old, strlen(old));
    const char *text = json_object_to_json_string_ext(figures, PLAIN);
    char *merged;

    if (!object)
        return appended(old, text);
    if (json_object_object_get_ex(object, MEMBER, NULL))
        merged = replaced(old, object, figures);
    else
        merged = extended(old, object, text);
    json_object_put(object);
    return merged;
}

char *comment_merge(const char *old, const char *figures, struct berth_error *err)
{
    struct json_object *object = object_of(figures, strlen(figures));
    char *merged;

    if (!object) {
        berth_error_set(err, "the figures are no JSON object");
        return NULL;
    }
    merged = merge(old ? old : "", object);
    json_object_put(object);
    if (!merged) {
        berth_no_memory(err);
    } else if (strlen(merged) > COMMENT_MAX) {
        berth_error_set(err, "the comment would be longer than %d bytes", COMMENT_MAX);
        free(merged);
        merged = NULL;
    }
    return merged;
}
