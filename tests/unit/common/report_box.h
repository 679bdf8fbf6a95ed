/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_box - records and reports for the tests of report_*.c. */
#ifndef BERTH_REPORT_BOX_H
#define BERTH_REPORT_BOX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packer/report/fields.h"
#include "packer/report/report.h"

/* A record of alice's on n1 in the cluster c: 1000 s on 4 cores from 2026-11-21 08:00 UTC on, 3 kJ
 * of packages and 1 kJ of DRAM; slowdowns 0.25 and 0.0625. The time zone becomes UTC. */
struct ledger_record report_box_record(uint32_t job, uint32_t step);

/* One that knows nothing but its names and its time. */
struct ledger_record report_box_unknown(uint32_t job, uint32_t step);

void report_box_add(struct report *report, const struct ledger_record *record);

/* What a row says in the field, "" where it is not known; valid until the next call but seven. */
const char *report_box_cell(const struct report_row *row, const char *field);
const char *report_box_raw(const struct report_row *row, const char *field);

/* The rows of a walk, in its order: jobs, each followed by its steps, and totals. */
struct report_box {
    size_t n;
    struct report_row row[64], grand;
};
void report_box_walk(struct report *report, enum report_by by, bool per_node,
                     struct report_box *box);

#endif
