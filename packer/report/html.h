/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html - writes a report as one page for a browser: figures, charts, the nodes over time, tables.
 *
 * The page needs nothing but itself: no script, style, font or picture of anywhere else, and the
 * browser is told to load none. All figures are there without its script, which only sorts tables.
 * What comes from users is escaped. */
#ifndef BERTH_REPORT_HTML_H
#define BERTH_REPORT_HTML_H

#include "packer/report/benefit.h"
#include "packer/report/fields.h"

struct report_page {
    int64_t now, since, until; /* unix seconds */
    struct report_terms terms;
    const char *ledger;                   /* its URL */
    const struct benefit_result *benefit; /* NULL: it is not told */
};

/* Writes it into the file, which appears whole or not at all; "-" is stdout. 0, or -1 and err. */
int report_html_write(struct report *report, const struct report_page *page, const char *path,
                      struct berth_error *err);

#endif
