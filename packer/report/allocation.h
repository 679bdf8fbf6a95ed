/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allocation - tells records whose cores are another record's, too: a batch script and an
 * interactive step hold all cores that their job has on their node, for as long as it lasts, and
 * what srun starts there runs on the same. */
#ifndef BERTH_REPORT_ALLOCATION_H
#define BERTH_REPORT_ALLOCATION_H

#include "packer/report/report.h"

/* Writes into each row what of its CPU time its job was given for it (REPORT_ALLOCATED_S): 0 where
 * another row has that. Returns 0, or -1 with errno. */
int report_allocate(struct report_row *row, size_t n);

#endif
