/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print - reading the fields of an answer, and putting text of unknown origin on a terminal. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "packer/base/text.h"
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

size_t ctl_columns(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void ctl_put_line(FILE *out, const char *line, size_t columns)
{
    size_t length = columns ? text_fit(line, columns) : strlen(line);

    while (length > 0 && line[length - 1] == ' ')
        length--;
    text_put(out, line, length);
    fputc('\n', out);
}

void ctl_put_progress(const char *format, ...)
{
    struct winsize size = {0};
    char line[512];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 2)
        size.ws_col = 80;
    fputc('\r', stderr);
    text_put(stderr, line, text_fit(line, size.ws_col - 1u));
    fputs("\033[K", stderr);
}

size_t ctl_word(const char *text)
{
    size_t length = strcspn(text, " ");

    if (text[length] == ' ' && text[length + 1] == '%')
        length += 1 + strcspn(text + length + 1, " ");
    return length;
}

void ctl_put_paragraph(FILE *out, const char *title, size_t indent, const char *text,
                       size_t columns)
{
    size_t used = indent;

    fprintf(out, "%-*s", (int)indent - 1, title);
    while (*text) {
        size_t length = ctl_word(text), wide = text_columns(text, length) + 1;

        if (columns && used > indent && used + wide > columns) {
            fprintf(out, "\n%*s", (int)indent - 1, "");
            used = indent;
        }
        fputc(' ', out);
        text_put(out, text, length);
        used += wide;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
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
