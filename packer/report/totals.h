/* SPDX-License-Identifier: GPL-2.0-or-later */
/* totals - adds up the jobs of a report, part by part: a part has all records of its jobs, and is
 * not kept. So the totals of a year of a cluster take no more room than their own rows. */
#ifndef BERTH_REPORT_TOTALS_H
#define BERTH_REPORT_TOTALS_H

#include "packer/report/report.h"

struct report_totals;

/* Makes totals by these keys, which are borrowed; NULL: of all together. NULL: no memory. */
struct report_totals *report_totals_new(const struct report_keys *keys);
void report_totals_free(struct report_totals *totals); /* NULL is fine */

/* Adds a report's jobs, and walks through them: job and total of the visitor, which may be NULL, as
 * report_walk() does it. 0; what the visitor returned; or -1 with errno. */
int report_totals_add(struct report_totals *totals, struct report *report, bool per_node,
                      const struct report_visitor *visitor);

/* Returns the totals [*n], in the order of their names, and *grand, that of all. They are the
 * totals' own. What jobs have of which parts in several groups do not add up to what they have as a
 * whole, their EDP, is not known of *grand. */
struct report_row *report_totals_conclude(struct report_totals *totals, size_t *n,
                                          struct report_row *grand);

#endif
