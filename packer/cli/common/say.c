/* SPDX-License-Identifier: GPL-2.0-or-later */
/* say - sentences about an object of JSON, see ctl_say() in ctl.h. Parts are gone through twice:
 * once without an output, to see whether all their fields are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/cli/common/ctl.h"

#define NAME_MAX_BYTES 64

/* Returns the value at a path such as "counts.alone.windows"; NULL where there is none. */
static struct json_object *value_at(struct json_object *object, const char *path, size_t length)
{
    char name[NAME_MAX_BYTES];

    for (size_t used; object && length > 0; path += used, length -= used) {
        used = strcspn(path, ".");
        used = used < length ? used : length;
        snprintf(name, sizeof(name), "%.*s", (int)used, path);
        object = ctl_object(object, name);
        used += used < length; /* the point */
    }
    return object;
}

static void put_when(FILE *out, double unix_s)
{
    time_t when = (time_t)unix_s;
    char text[64];
    struct tm tm;

    if (isnan(unix_s) || unix_s <= 0)
        return;
    localtime_r(&when, &tm);
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
    fputs(text, out);
}

/* Writes a number as what follows its name says. */
static void put_number(FILE *out, double number, const char *how)
{
    char time[CTL_TIME_MAX], *end = (char *)how;
    int digits = 0;

    if (*how == '>')
        strtod(how + 1, &end);
    if (*end == ':')
        digits = (int)strtol(end + 1, &end, 10);
    if (*end == '/')
        number /= strtod(end + 1, &end);
    ctl_time(number, time);
    if (*how == '@')
        put_when(out, number);
    else if (*how == '~')
        fputs(time, out);
    else if (*how == '*')
        fputs(number == 1 ? "" : "s", out);
    else if (*how == '%')
        fprintf(out, "%.*g", atoi(how + 1), number);
    else
        fprintf(out, "%.*f", digits, number);
}

/* Says whether a value is known: no bare "-", nothing empty, false or less than wanted. */
static bool is_known(struct json_object *value, const char *text, double number, const char *how)
{
    size_t length = strlen(text);

    if (*how == '=')
        return strncmp(text, how + 1, length) == 0 && how[1 + length] == '}';
    if (json_object_is_type(value, json_type_boolean))
        return json_object_get_boolean(value);
    if (*how == '>')
        return number > strtod(how + 1, NULL);
    return !isnan(number) || (length > 0 && strcmp(text, "-") != 0);
}

/* Writes the field that begins behind a '{'. Returns what follows its '}'. */
static const char *put_field(FILE *out, struct json_object *object, const char *field, bool *known)
{
    const char *how = field + strcspn(field, ":/%>*@~?=}"), *end = strchr(how, '}');
    struct json_object *value = value_at(object, field, (size_t)(how - field));
    bool is_text = json_object_is_type(value, json_type_string);
    bool is_number =
        json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double);
    const char *text = is_text ? json_object_get_string(value) : "-";
    double number = is_number ? json_object_get_double(value) : NAN;

    *known = *known && is_known(value, text, number, how);
    if (!out || *how == '?' || *how == '=')
        return end + 1;
    if (is_number)
        put_number(out, number, how);
    else if (*how != '@')
        fputs(text, out);
    return end + 1;
}

static const char *put_choice(FILE *out, struct json_object *object, const char *parts);

/* Writes a part, up to the sentence's end or the '|' or ']' that ends the part. Returns its end,
 * and whether all its own fields are known. */
static const char *put_part(FILE *out, struct json_object *object, const char *part, bool *known)
{
    *known = true;
    while (*part && *part != '|' && *part != ']') {
        if (*part == '[') {
            part = put_choice(out, object, part + 1);
        } else if (*part == '{') {
            part = put_field(out, object, part + 1, known);
        } else {
            if (out)
                fputc(*part, out);
            part++;
        }
    }
    return part;
}

/* Writes the first known one of the parts behind a '['. Returns what follows their ']'. */
static const char *put_choice(FILE *out, struct json_object *object, const char *parts)
{
    bool known, chosen = false;

    for (;; parts++) {
        const char *part = parts;

        parts = put_part(NULL, object, part, &known);
        if (out && known && !chosen)
            put_part(out, object, part, &known);
        chosen = chosen || known;
        if (*parts != '|')
            return parts + 1;
    }
}

void ctl_say(FILE *out, struct json_object *object, const char *sentence)
{
    bool known;

    put_part(out, object, sentence, &known);
}
