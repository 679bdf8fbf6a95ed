/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_page - see metrics_page.h */
#include "tests/unit/common/metrics_page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS "0123456789"

struct reader {
    bool open;
    size_t line;
    char *why;
    struct page *page;
    char family[64], type[16], unit[32]; /* of the present one; "" not yet */
    bool helped, sampled;
    size_t families;
    char seen[128][64];
};

static int wrong(struct reader *reader, const char *format, ...)
{
    size_t used = (size_t)snprintf(reader->why, 256, "line %zu: ", reader->line);
    va_list list;

    va_start(list, format);
    vsnprintf(reader->why + used, 256 - used, format, list);
    va_end(list);
    return -1;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n > m && strcmp(text + n - m, end) == 0;
}

/* A name of letters, digits and '_' into name[64]; what follows it, or NULL. */
static const char *take_name(const char *at, char *name)
{
    size_t length = strspn(at, LETTERS DIGITS);

    if (length == 0 || length > 63 || strchr(DIGITS, at[0]))
        return NULL;
    memcpy(name, at, length);
    name[length] = '\0';
    return at + length;
}

/* ---- lines that describe ---- */

static int begin_family(struct reader *reader, const char *name)
{
    if (reader->family[0] && !reader->sampled)
        return wrong(reader, "%s has no sample", reader->family);
    for (size_t i = 0; i < reader->families; i++)
        if (strcmp(reader->seen[i], name) == 0)
            return wrong(reader, "%s once more", name);
    if (reader->families == 128)
        return wrong(reader, "too many families");
    strcpy(reader->seen[reader->families++], name);
    strcpy(reader->family, name);
    reader->type[0] = reader->unit[0] = '\0';
    reader->helped = reader->sampled = false;
    return 0;
}

static int take_type(struct reader *reader, const char *type)
{
    bool known = strcmp(type, "gauge") == 0 || strcmp(type, "counter") == 0 ||
                 (reader->open && strcmp(type, "info") == 0);

    if (!known || reader->type[0])
        return wrong(reader, "type %s", type);
    strcpy(reader->type, type);
    return 0;
}

static int take_help(struct reader *reader, const char *help)
{
    if (reader->helped || !help[0])
        return wrong(reader, "help twice, or empty");
    for (; *help; help++) {
        if (*help == '"' && reader->open)
            return wrong(reader, "a bare quote in a help text");
        if (*help == '\\' && !strchr(reader->open ? "\\n\"" : "\\n", *++help))
            return wrong(reader, "an unknown escape");
    }
    reader->helped = true;
    return 0;
}

/* "TYPE name type", after "# ". */
static int take_description(struct reader *reader, const char *line)
{
    const char *value;
    char name[64];

    if (strlen(line) < 6 || line[4] != ' ' || !(value = take_name(line + 5, name)) || *value != ' ')
        return wrong(reader, "no description: %s", line);
    value++;
    if (strcmp(name, reader->family) != 0 && begin_family(reader, name) < 0)
        return -1;
    if (reader->sampled)
        return wrong(reader, "%s described after its samples", name);
    if (strncmp(line, "TYPE", 4) == 0)
        return take_type(reader, value);
    if (strncmp(line, "HELP", 4) == 0)
        return take_help(reader, value);
    if (strncmp(line, "UNIT", 4) != 0 || !reader->open || reader->unit[0])
        return wrong(reader, "no description: %s", line);
    snprintf(reader->unit, sizeof(reader->unit), "_%s", value);
    return ends_with(name, reader->unit) ? 0 : wrong(reader, "%s has the unit %s", name, value);
}

/* ---- samples ---- */

/* A value between quotes; what follows the second one, or NULL. */
static const char *take_value(const char *at, char *value)
{
    size_t used = 0;

    if (*at++ != '"')
        return NULL;
    for (; *at && *at != '"' && used < PAGE_TEXT - 1; at++) {
        if (*at == '\\') {
            at++;
            if (*at != '\\' && *at != '"' && *at != 'n')
                return NULL;
            value[used++] = *at == 'n' ? '\n' : *at;
        } else {
            value[used++] = *at;
        }
    }
    value[used] = '\0';
    return *at == '"' ? at + 1 : NULL;
}

/* "{a="b",c="d"}"; what follows it, or NULL. */
static const char *take_labels(const char *at, struct page_sample *sample)
{
    do {
        struct page_label *label = &sample->label[sample->labels];

        if (sample->labels == PAGE_LABELS || !(at = take_name(at + 1, label->name)) || *at != '=' ||
            !(at = take_value(at + 1, label->value)) || !label->value[0])
            return NULL;
        for (size_t i = 0; i < sample->labels; i++)
            if (strcmp(sample->label[i].name, label->name) == 0)
                return NULL;
        sample->labels++;
    } while (*at == ',');
    return *at == '}' ? at + 1 : NULL;
}

static bool same_sample(const struct page_sample *a, const struct page_sample *b)
{
    if (strcmp(a->name, b->name) != 0 || a->labels != b->labels)
        return false;
    for (size_t i = 0; i < a->labels; i++)
        if (strcmp(a->label[i].name, b->label[i].name) != 0 ||
            strcmp(a->label[i].value, b->label[i].value) != 0)
            return false;
    return true;
}

/* Is that how the samples of the present family are called? */
static bool is_named(const struct reader *reader, const char *name)
{
    const char *suffix = !reader->open                          ? ""
                         : strcmp(reader->type, "counter") == 0 ? "_total"
                         : strcmp(reader->type, "info") == 0    ? "_info"
                                                                : "";
    size_t n = strlen(reader->family);
    bool counter = strcmp(reader->type, "counter") == 0;

    return strncmp(name, reader->family, n) == 0 && strcmp(name + n, suffix) == 0 &&
           counter == ends_with(name, "_total");
}

static int check_sample(struct reader *reader, const struct page_sample *sample)
{
    if (!reader->type[0] || !reader->helped || !is_named(reader, sample->name))
        return wrong(reader, "%s is not of the family %s", sample->name, reader->family);
    if (strcmp(reader->type, "info") == 0 && strcmp(sample->number, "1") != 0)
        return wrong(reader, "%s is not 1", sample->name);
    if (strcmp(reader->type, "counter") == 0 && sample->value < 0)
        return wrong(reader, "%s is below 0", sample->name);
    for (size_t i = 0; i < reader->page->n; i++)
        if (same_sample(&reader->page->sample[i], sample))
            return wrong(reader, "%s once more with the same labels", sample->name);
    reader->sampled = true;
    return 0;
}

static int take_sample(struct reader *reader, const char *line)
{
    struct page *page = reader->page;
    struct page_sample *sample;
    const char *at;
    char *end;

    page->sample = realloc(page->sample, (page->n + 1) * sizeof(*page->sample));
    sample = &page->sample[page->n];
    memset(sample, 0, sizeof(*sample));
    at = take_name(line, sample->name);
    if (at && *at == '{')
        at = take_labels(at, sample);
    if (!at || *at != ' ' || strspn(at + 1, DIGITS "+-.e") != strlen(at + 1) || !at[1] ||
        strlen(at + 1) >= sizeof(sample->number))
        return wrong(reader, "no sample: %s", line);
    strcpy(sample->number, at + 1);
    sample->value = strtod(sample->number, &end);
    if (*end || check_sample(reader, sample) < 0)
        return *end ? wrong(reader, "no number: %s", line) : -1;
    page->n++;
    return 0;
}

/* ---- the page ---- */

static int take_page(struct reader *reader, char *text, size_t length)
{
    bool ended = false;

    if (length == 0 || text[length - 1] != '\n' || memchr(text, '\0', length) ||
        memchr(text, '\r', length))
        return wrong(reader, "no text of lines");
    for (char *line = text, *next; *line; line = next) {
        next = strchr(line, '\n');
        *next++ = '\0';
        reader->line++;
        if (ended)
            return wrong(reader, "more after the end");
        if (reader->open && strcmp(line, "# EOF") == 0)
            ended = true;
        else if (strncmp(line, "# ", 2) == 0 ? take_description(reader, line + 2) < 0
                                             : take_sample(reader, line) < 0)
            return -1;
    }
    if (reader->family[0] && !reader->sampled)
        return wrong(reader, "%s has no sample", reader->family);
    return ended == reader->open ? 0 : wrong(reader, "no end");
}

struct page *page_read(const char *text, size_t length, bool open, char why[256])
{
    struct reader reader = {.open = open, .why = why, .page = calloc(1, sizeof(struct page))};
    char *copy = malloc(length + 1);
    int rc;

    memcpy(copy, text, length);
    copy[length] = '\0';
    rc = take_page(&reader, copy, length);
    free(copy);
    if (rc == 0)
        return reader.page;
    page_free(reader.page);
    return NULL;
}

void page_free(struct page *page)
{
    if (!page)
        return;
    free(page->sample);
    free(page);
}

const struct page_sample *page_find(const struct page *page, const char *name, const char *labels)
{
    for (size_t i = 0; i < page->n; i++) {
        const struct page_sample *sample = &page->sample[i];
        char now[PAGE_LABELS * (PAGE_TEXT + 66)] = "";

        for (size_t j = 0; j < sample->labels; j++)
            sprintf(now + strlen(now), "%s%s=%s", j ? "," : "", sample->label[j].name,
                    sample->label[j].value);
        if (strcmp(sample->name, name) == 0 && strcmp(now, labels) == 0)
            return sample;
    }
    return NULL;
}

size_t page_count(const struct page *page, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < page->n; i++)
        n += strcmp(page->sample[i].name, name) == 0;
    return n;
}
