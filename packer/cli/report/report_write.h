/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_write - writes the rows of `berthctl report` in the shape that was asked for, a job at a
 * time, so that a year of a cluster need not fit into memory. */
#ifndef BERTH_CLI_REPORT_REPORT_WRITE_H
#define BERTH_CLI_REPORT_REPORT_WRITE_H

#include "packer/cli/report/report.h"
#include "packer/report/totals.h"

/* args and put are the caller's to fill before the beginning. */
struct report_writing {
    const struct report_args *args;
    struct report_table put;
    size_t written;               /* elements of the JSON array */
    struct report_totals *totals; /* of all that was put; NULL: it has not begun */
};

/* Chooses the columns that were asked for, or those that suit the shape, with the site's own
 * (fields of berth.conf's report_fields): programs get all there are. The caller frees *column. 0,
 * or -1 and err. */
int report_choose_columns(const struct report_args *args, const char *site,
                          struct report_column **column, size_t *n, struct berth_error *err);

/* Writes what stands before the rows. 0, or -1 with errno. */
int report_writing_begin(struct report_writing *writing);

/* Writes the rows of the report: of all jobs, or of those whose numbers come next. 0, or -1 with
 * errno. */
int report_writing_put(struct report_writing *writing, struct report *report);

/* Writes what stands behind them. 0, or -1 with errno. Nothing is left to be freed. */
int report_writing_end(struct report_writing *writing);

#endif
