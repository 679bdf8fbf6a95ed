/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_impl - has what the parts of the page share: html.h. */
#ifndef BERTH_REPORT_HTML_IMPL_H
#define BERTH_REPORT_HTML_IMPL_H

#include "packer/report/html.h"

#define PAGE_COLOURS 9 /* of users; everybody else's is the one after */

/* What the page shows, gathered before it is written. */
struct page {
    FILE *out;
    const struct report_page *about;
    struct report *report;
    struct report_row grand;
    struct report_row *user, *job; /* [users], [jobs] by energy, the greatest first */
    size_t users, jobs, users_room, jobs_room;
};

/* Writes text of users: escaped, and what is no UTF-8, or a control character, as U+FFFD. */
void page_text(FILE *out, const char *text);

/* Writes a cell for people, "12.34 kJ". */
void page_cell(struct page *page, const struct report_row *row, const struct report_field *field);

/* Returns the user's colour: a class "c0".."c9". */
unsigned page_colour(const struct page *page, const char *user, double uid);

/* Draws bars of energy and of EDP, a line for each of the first rows; names are what `label` says.
 */
void page_bars(struct page *page, const char *title, const struct report_row *row, size_t n,
               size_t most, const char *label_field);

/* Says whether berth helps: what benefit_print() says. */
void page_benefit(struct page *page);

/* Draws each node's cores over time. 0, or -1 with errno. */
int page_maps(struct page *page);

extern const char page_style[], page_script[];

#endif
