/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text - see text.h. The formats: OpenMetrics 1.0 ("Text format" of the
 * specification), and Prometheus' "Exposition formats", version 0.0.4. */
#include "packer/metrics/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "packer/base/text.h"
#include "enum_table.h"

const char *const TABLE(metrics_content_type, METRICS_FORMATS) = {
    ROW(METRICS_OPENMETRICS) = "application/openmetrics-text; version=1.0.0; charset=utf-8",
    ROW(METRICS_PLAIN) = "text/plain; version=0.0.4; charset=utf-8",
};
TABLE_COMPLETE(metrics_content_type);

static const char *const TABLE(suffix, METRICS_TYPES) = {
    ROW(METRICS_GAUGE) = "", ROW(METRICS_COUNTER) = "_total", ROW(METRICS_INFO) = "_info"};
TABLE_COMPLETE(suffix);

/* Of a user's text, control characters and what is no UTF-8 become '?'. A quote stays as it is in
 * the help lines of the plain format, which knows no escape for it. */
static void put_escaped(FILE *out, const char *string, bool quotes)
{
    for (;;) {
        size_t plain = 0, length;

        while (string[plain] != '"' && string[plain] != '\\' &&
               (length = text_character(string + plain)))
            plain += length;
        fwrite(string, 1, plain, out);
        string += plain;
        if (!*string)
            return;
        if (*string == '\n')
            fputs("\\n", out);
        else if (*string == '\\')
            fputs("\\\\", out);
        else if (*string == '"')
            fputs(quotes ? "\\\"" : "\"", out);
        else
            fputc('?', out);
        string++;
    }
}

/* ---- families and samples ---- */

void metrics_sample_name(const struct metrics_family *family, char name[METRICS_NAME_MAX])
{
    snprintf(name, METRICS_NAME_MAX, "%s%s", family->name, suffix[family->type]);
}

static void put_line(struct metrics_text *text, const char *what, const char *name,
                     const char *value)
{
    fprintf(text->out, "# %s %s ", what, name);
    put_escaped(text->out, value, text->format == METRICS_OPENMETRICS);
    fputc('\n', text->out);
}

/* The plain format has no suffixes of its own, no units and no info: a name is what samples have.
 */
static void put_family(struct metrics_text *text, const struct metrics_family *family)
{
    static const char *const TABLE(open_type, METRICS_TYPES) = {
        ROW(METRICS_GAUGE) = "gauge", ROW(METRICS_COUNTER) = "counter", ROW(METRICS_INFO) = "info"};
    TABLE_COMPLETE(open_type);
    static const char *const TABLE(plain_type, METRICS_TYPES) = {ROW(METRICS_GAUGE) = "gauge",
                                                                 ROW(METRICS_COUNTER) = "counter",
                                                                 ROW(METRICS_INFO) = "gauge"};
    TABLE_COMPLETE(plain_type);
    char name[METRICS_NAME_MAX];

    if (text->format == METRICS_OPENMETRICS) {
        put_line(text, "TYPE", family->name, open_type[family->type]);
        if (family->unit[0])
            put_line(text, "UNIT", family->name, family->unit);
        put_line(text, "HELP", family->name, family->help);
        return;
    }
    metrics_sample_name(family, name);
    put_line(text, "HELP", name, family->help);
    put_line(text, "TYPE", name, plain_type[family->type]);
}

static void put_labels(FILE *out, const struct metrics_label *label, size_t n)
{
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        if (!label[i].value || !label[i].value[0])
            continue;
        fprintf(out, "%s%s=\"", any ? "," : "{", label[i].name);
        put_escaped(out, label[i].value, true);
        fputc('"', out);
        any = true;
    }
    if (any)
        fputc('}', out);
}

static void put_sample(struct metrics_text *text, const struct metrics_family *family,
                       const struct metrics_label *label, size_t n, const char *number)
{
    if (!text->out)
        return;
    if (family != text->family)
        put_family(text, family);
    text->family = family;
    fprintf(text->out, "%s%s", family->name, suffix[family->type]);
    put_labels(text->out, label, n);
    fprintf(text->out, " %s\n", number);
}

void metrics_text_begin(struct metrics_text *text, enum metrics_format format)
{
    *text = (struct metrics_text){.format = format};
    text->out = open_memstream(&text->text, &text->used);
    text->failed = !text->out;
}

/* With the fewest digits that are read back as the same number. */
void metrics_text_add(struct metrics_text *text, const struct metrics_family *family,
                      const struct metrics_label *label, size_t n, double value)
{
    char number[32];

    if (!isfinite(value))
        return;
    if (fabs(value) < 1e15 && value == (double)(int64_t)value)
        snprintf(number, sizeof(number), "%" PRId64, (int64_t)value);
    else if (snprintf(number, sizeof(number), "%.15g", value), strtod(number, NULL) != value)
        snprintf(number, sizeof(number), "%.17g", value);
    put_sample(text, family, label, n, number);
}

void metrics_text_add_micro(struct metrics_text *text, const struct metrics_family *family,
                            const struct metrics_label *label, size_t n, uint64_t micro)
{
    char number[32];

    snprintf(number, sizeof(number), "%" PRIu64 ".%06" PRIu64, micro / 1000000, micro % 1000000);
    put_sample(text, family, label, n, number);
}

int metrics_text_end(struct metrics_text *text)
{
    if (text->out && text->format == METRICS_OPENMETRICS)
        fputs("# EOF\n", text->out);
    if (text->out && fclose(text->out) != 0)
        text->failed = true;
    if (!text->failed)
        return 0;
    free(text->text);
    text->text = NULL;
    text->used = 0;
    return -1;
}

/* ---- which format ---- */

/* Does "key = value" of a media range say so? Blanks and quotes around the value do not count. */
static bool get_parameter(const char *at, const char *end, const char *key, char *value,
                          size_t size)
{
    while ((at = memchr(at, ';', (size_t)(end - at)))) {
        size_t length;

        at++;
        at += strspn(at, " \t");
        if (strncasecmp(at, key, strlen(key)) != 0 || at[strlen(key)] != '=')
            continue;
        at += strlen(key) + 1;
        at += strspn(at, "\"");
        length = strcspn(at, " \t\";,");
        snprintf(value, size, "%.*s", (int)(length < size ? length : size - 1), at);
        return true;
    }
    return false;
}

/* How much the client wants this range of Accept, from at to end, and whether that names
 * OpenMetrics. */
static double weigh(const char *at, const char *end, bool *open)
{
    static const char openmetrics[] = "application/openmetrics-text";
    size_t name = strcspn(at, " \t;,");
    char value[16];
    double q = 1;

    *open = name == strlen(openmetrics) && strncasecmp(at, openmetrics, name) == 0;
    if (!*open && !(name == 10 && strncasecmp(at, "text/plain", 10) == 0) &&
        !(name == 6 && strncasecmp(at, "text/*", 6) == 0) &&
        !(name == 3 && strncmp(at, "*/*", 3) == 0))
        return 0;
    if (get_parameter(at, end, "version", value, sizeof(value)) &&
        strcmp(value, *open ? "1.0.0" : "0.0.4") != 0)
        return 0;
    if (get_parameter(at, end, "q", value, sizeof(value)))
        q = strtod(value, NULL);
    return q > 0 && q <= 1 ? q : 0;
}

enum metrics_format metrics_negotiate(const char *accept)
{
    double best[METRICS_FORMATS] = {0};

    while (accept && *accept) {
        const char *at = accept + strspn(accept, " \t"), *end = at + strcspn(at, ",");
        bool open;
        double q = weigh(at, end, &open);
        enum metrics_format format = open ? METRICS_OPENMETRICS : METRICS_PLAIN;

        best[format] = fmax(best[format], q);
        accept = *end ? end + 1 : end;
    }
    return best[METRICS_OPENMETRICS] > 0 && best[METRICS_OPENMETRICS] >= best[METRICS_PLAIN]
               ? METRICS_OPENMETRICS
               : METRICS_PLAIN;
}
