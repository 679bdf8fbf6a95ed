/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html - writes a report as one page for a browser: figures, charts, the nodes over time, tables.
 *
 * The page needs nothing but itself: no script, style, font or picture of anywhere else, and the
 * browser is told to load none. The figures are in it as JSON, and its script (page.js) draws them.
 * What comes from users stays text. What is drawn is gathered job by job, and takes as much room
 * for a year as for a day. */
#ifndef BERTH_REPORT_HTML_H
#define BERTH_REPORT_HTML_H

#include "packer/report/benefit.h"
#include "packer/report/fields.h"

struct report_page {
    int64_t now, since, until; /* unix seconds */
    struct report_terms terms;
    const char *fields; /* of the site, which tables have beside their own; NULL or "": none */
    const char *ledger; /* its URL */
};

struct report_html;

/* Begins a page; what `about` points to is borrowed. NULL: no memory. */
struct report_html *report_html_new(const struct report_page *about);
void report_html_free(struct report_html *page); /* NULL is fine */

/* Adds the jobs of a report, which has all their records, and may be cleared then. 0, or -1 with
 * errno. */
int report_html_add(struct report_html *page, struct report *report);

/* Writes it into the file, which appears whole or not at all; "-" is stdout. What berth is worth
 * may be NULL: it is not told. 0, or -1 and err. */
int report_html_write(struct report_html *page, const struct benefit_result *benefit,
                      const char *path, struct berth_error *err);

#endif
