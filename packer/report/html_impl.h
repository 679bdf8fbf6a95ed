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
    const struct report_row **record; /* [records] by cluster, node and start */
    size_t records;
};

/* The time from left to right of a drawing: what the report is of, as far as steps ran in it. */
struct page_axis {
    int64_t from, to;   /* unix seconds */
    double left, right; /* where they stand */
};

void page_axis_find(const struct page *page, struct page_axis *axis); /* its time */
double page_axis_x(const struct page_axis *axis, int64_t at);

/* Draws it at the bottom, with lines up to 0. */
void page_axis_put(FILE *out, const struct page_axis *axis, double bottom);

/* Returns the greatest value of a scale for values of which outliers are left out: those more than
 * four times the one that `part` (0 to 1) of them do not exceed. Values that are no number or not
 * above 0 do not count; 0: there is no other. The list is sorted and shortened. */
double page_scale(double *value, size_t n, double part);

/* Writes text of users: escaped, and what is no UTF-8, or a control character, as U+FFFD. */
void page_text(FILE *out, const char *text);

/* Writes a cell for people, "12.34 kJ". */
void page_cell(struct page *page, const struct report_row *row, const struct report_field *field);

/* Returns the user's colour: a class "c0".."c9". */
unsigned page_colour(const struct page *page, const char *user, double uid);

/* Draws a bar, `part` of what there is room for; more than 1 ends in stripes. NAN: no bar. */
void page_bar(FILE *out, double part, unsigned colour);

/* Draws bars of energy and of EDP, a line for each of the first rows; names are what `label` says.
 */
void page_bars(struct page *page, const char *title, const struct report_row *row, size_t n,
               size_t most, const char *label_field);

/* Says whether berth helps: what benefit_print() says. */
void page_benefit(struct page *page);

/* Draws each node's cores over time. */
void page_maps(struct page *page);

/* Draws what each node did on each day. 0, or -1 with errno. */
int page_days(struct page *page);

/* Draws what was drawn by the steps that were metered, over time. */
void page_power(struct page *page);

/* Draws how many steps were how much slower than alone. */
void page_slowdowns(struct page *page);

extern const char page_style[], page_script[];

#endif
