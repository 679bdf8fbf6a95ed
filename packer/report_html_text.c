/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_html_text - text of people as text of a page: escaped, valid UTF-8, no control characters.
 */
#include <ctype.h>
#include <string.h>

#include "report_html_impl.h"

/* The bytes of the UTF-8 character at `text`, 0 where there is none: no overlong forms, no
 * surrogates, nothing beyond U+10FFFF, no C1. */
static size_t character(const unsigned char *text)
{
    static const struct {
        unsigned char low, high, second_low, second_high, length;
    } form[] = {
        {0xc2, 0xc2, 0xa0, 0xbf, 2}, {0xc3, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7f;
    for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
        if (text[0] < form[i].low || text[0] > form[i].high || text[1] < form[i].second_low ||
            text[1] > form[i].second_high)
            continue;
        for (size_t k = 2; k < form[i].length; k++)
            if ((text[k] & 0xc0) != 0x80)
                return 0;
        return form[i].length;
    }
    return 0;
}

void page_text(FILE *out, const char *text)
{
    static const char special[] = "&<>\"'";
    static const char *const escape[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

    while (*text) {
        const char *found = strchr(special, *text);
        size_t length = character((const unsigned char *)text);

        if (found)
            fputs(escape[found - special], out);
        else if (length)
            fwrite(text, 1, length, out);
        else
            fputs("\xef\xbf\xbd", out);
        text += length ? length : 1;
    }
}

void page_cell(struct page *page, const struct report_row *row, const struct report_field *field)
{
    char text[REPORT_CELL_MAX];
    size_t number;

    report_cell(row, field, page->about->unit, text);
    number = strspn(text, ">=-0123456789.");
    if (field->form < REPORT_FORM_ENERGY || number == 0 || !isalpha((unsigned char)text[number])) {
        page_text(page->out, text);
        return;
    }
    if (strncmp(text, ">=", 2) == 0)
        fprintf(page->out, "\xe2\x89\xa5\xe2\x80\xaf%.*s\xc2\xa0", (int)number - 2, text + 2);
    else
        fprintf(page->out, "%.*s\xc2\xa0", (int)number, text);
    page_text(page->out, text + number);
}

unsigned page_colour(const struct page *page, const char *user, double uid)
{
    for (size_t i = 0; i < page->users && i < PAGE_COLOURS; i++)
        if (strcmp(page->user[i].text[REPORT_USER], user) == 0 &&
            (*user || page->user[i].number[REPORT_UID] == uid))
            return (unsigned)i;
    return PAGE_COLOURS;
}
