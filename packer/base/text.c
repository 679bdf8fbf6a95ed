/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text - see text.h */
#include "packer/base/text.h"

#include <stdlib.h>
#include <stdarg.h>
#include <string.h>

/* Leading bytes, what may follow them, and the length of the whole: RFC 3629, section 4, without
 * the control characters U+0080 to U+009F. */
static const struct {
    unsigned char first, last, low, high, length;
} forms[] = {
    {0xc2, 0xc2, 0xa0, 0xbf, 2}, {0xc3, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

size_t text_character(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;

    if (c[0] < 0x80)
        return c[0] >= 0x20 && c[0] != 0x7f;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t n = 2;

        if (c[0] < forms[i].first || c[0] > forms[i].last)
            continue;
        if (c[1] < forms[i].low || c[1] > forms[i].high)
            return 0;
        while (n < forms[i].length && (c[n] & 0xc0) == 0x80)
            n++;
        return n == forms[i].length ? n : 0;
    }
    return 0;
}

/* Most characters are of these, and need no look at the forms. */
static bool is_plain(char c)
{
    return c >= 0x20 && c < 0x7f;
}

/* Returns how many bytes the next character has, 1 where there is none. */
static size_t step_over(const char *text)
{
    size_t n = is_plain(*text) ? 1 : text_character(text);

    return n ? n : 1;
}

void text_clean(char *text)
{
    for (; *text; text += step_over(text))
        if (!is_plain(*text) && text_character(text) == 0)
            *text = '?';
}

void text_put(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t n = 0;

        while (i + n < length && is_plain(text[i + n]))
            n++;
        if (n == 0)
            n = text_character(text + i);
        if (n)
            fwrite(text + i, 1, n, out);
        else
            fputc('?', out);
        i += n ? n : 1;
    }
}

static void put_field(FILE *out, const char *before, const char *text)
{
    bool quotes = text[strcspn(text, ",\"")] != '\0' || text[0] == ' ';

    if (quotes)
        fputc('"', out);
    fputs(before, out);
    while (*text) {
        size_t n = strcspn(text, "\"");

        text_put(out, text, n);
        text += n;
        if (*text) {
            fputs("\"\"", out);
            text++;
        }
    }
    if (quotes)
        fputc('"', out);
}

void text_put_csv(FILE *out, const char *text)
{
    put_field(out, "", text);
}

void text_put_markup(FILE *out, const char *text)
{
    static const char special[] = "&<>\"'";
    static const char *const escape[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

    while (*text) {
        const char *found = strchr(special, *text);
        size_t length = text_character(text);

        if (found)
            fputs(escape[found - special], out);
        else if (length)
            fwrite(text, 1, length, out);
        else
            fputs("\xef\xbf\xbd", out);
        text += length ? length : 1;
    }
}

/* Says whether a spreadsheet would take the text for a formula. */
static bool is_formula(const char *text)
{
    const char *first = text + strspn(text, " ");
    char *end;

    if (*first == '\0' || !strchr("=+-@\t", *first))
        return false;
    strtod(first, &end);
    return end == first || *end != '\0';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

bool text_is_csv_cell(const char *text)
{
    if (*text != '\0' && !is_word(*text))
        return false;
    for (; *text; text++)
        if (!is_word(*text) && !strchr("_.-/:", *text))
            return false;
    return true;
}

void text_put_csv_cell(FILE *out, const char *text)
{
    put_field(out, is_formula(text) ? "'" : "", text);
}

/* Writes what is no character that may be passed on. Returns its bytes. */
static size_t put_escaped(FILE *out, const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    bool c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f;

    if (c[0] == '\n') /* between values: in a string it is an escape already */
        fputc('\n', out);
    else
        fprintf(out, "\\u%04x", c1 ? c[1] : c[0] < 0x80 ? c[0] : 0xfffd);
    return c1 ? 2 : 1;
}

void text_put_json(FILE *out, const char *json)
{
    while (*json) {
        size_t n = 0;

        while (is_plain(json[n]))
            n++;
        fwrite(json, 1, n, out);
        json += n;
        n = *json ? text_character(json) : 0;
        if (n)
            fwrite(json, 1, n, out);
        else if (*json)
            n = put_escaped(out, json);
        json += n;
    }
}

size_t text_columns(const char *text, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; columns++)
        i += step_over(text + i);
    return columns;
}

size_t text_fit(const char *text, size_t columns)
{
    size_t length = 0;

    for (; columns > 0 && text[length]; columns--)
        length += step_over(text + length);
    return length;
}

bool text_lists(const char *list, const char *word)
{
    size_t length = strlen(word);

    while (*list) {
        size_t n = strcspn(list, ", ");

        if (n > 0 && n == length && strncmp(list, word, n) == 0)
            return true;
        list += n + (list[n] != '\0');
    }
    return false;
}

void text_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}
