/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print - reading the fields of an answer, and putting text of unknown origin on a terminal. */
#include <math.h>
#include <string.h>

#include "packer/cli/common/ctl.h"

struct json_object *ctl_object(struct json_object *object, const char *key)
{
    struct json_object *field = NULL;

    return json_object_object_get_ex(object, key, &field) ? field : NULL;
}

size_t ctl_length(struct json_object *array)
{
    return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

const char *ctl_text(struct json_object *object, const char *key)
{
    struct json_object *field = ctl_object(object, key);

    return json_object_is_type(field, json_type_string) ? json_object_get_string(field) : "-";
}

const char *ctl_known_text(struct json_object *object, const char *key)
{
    const char *text = ctl_text(object, key);

    return text[0] && strcmp(text, "-") != 0 ? text : NULL;
}

double ctl_number(struct json_object *object, const char *key)
{
    struct json_object *field = ctl_object(object, key);
    bool number =
        json_object_is_type(field, json_type_int) || json_object_is_type(field, json_type_double);

    return number ? json_object_get_double(field) : NAN;
}

bool ctl_true(struct json_object *object, const char *key)
{
    struct json_object *field = ctl_object(object, key);

    return json_object_is_type(field, json_type_boolean) && json_object_get_boolean(field);
}

const char *ctl_measure(double value, int digits, char text[32])
{
    snprintf(text, 32, "%.*f", digits, value);
    return isnan(value) ? "-" : text;
}

const char *ctl_joules(double joules, char text[32])
{
    static const char *const unit[] = {"J", "kJ", "MJ", "GJ"};
    size_t i = 0;

    while (joules >= 999.95 && i < 3)
        joules /= 1000, i++;
    snprintf(text, 32, "%.1f %s", joules, unit[i]);
    return isnan(joules) ? "-" : text;
}

void ctl_time(double seconds, char text[CTL_TIME_MAX])
{
    unsigned long total = seconds >= 0 && seconds < 1e10 ? (unsigned long)seconds : 0;
    unsigned long days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60;

    if (!(seconds >= 0 && seconds < 1e10))
        snprintf(text, CTL_TIME_MAX, "-");
    else if (days)
        snprintf(text, CTL_TIME_MAX, "%lu-%02lu:%02lu:%02lu", days, hours, minutes, total % 60);
    else if (hours)
        snprintf(text, CTL_TIME_MAX, "%lu:%02lu:%02lu", hours, minutes, total % 60);
    else
        snprintf(text, CTL_TIME_MAX, "%lu:%02lu", minutes, total % 60);
}
