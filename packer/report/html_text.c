/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_text - writes text of people as text of a page: escaped, valid UTF-8, no control characters.
 */
#include <ctype.h>
#include <string.h>

#include "packer/base/text.h"
#include "packer/report/html_impl.h"

void page_text(FILE *out, const char *text)
{
    text_put_markup(out, text);
}

void page_cell(struct report_html *page, const struct report_row *row,
               const struct report_field *field)
{
    char text[REPORT_CELL_MAX];
    size_t number;

    report_format_cell(row, field, &page->about.terms, text);
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

unsigned page_colour(const struct report_html *page, const char *user, double uid)
{
    for (size_t i = 0; i < page->users && i < PAGE_COLOURS; i++)
        if (strcmp(page->user[i].text[REPORT_USER], user) == 0 &&
            (*user || page->user[i].number[REPORT_UID] == uid))
            return (unsigned)i;
    return PAGE_COLOURS;
}
