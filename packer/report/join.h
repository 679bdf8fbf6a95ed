/* SPDX-License-Identifier: GPL-2.0-or-later */
/* join - finds the job of records that do not say whose they are.
 *
 * Slurm may never have said so of a step (of one that did not opt in, or that ended while nobody
 * could be asked), while it has of other steps of the same job: a record is of its job by number
 * and user, and of a run of it by its time and by its step's number, which grow together. */
#ifndef BERTH_REPORT_JOIN_H
#define BERTH_REPORT_JOIN_H

#include "packer/report/report.h"

/* Gives rows of which Slurm has not said whose they are the cluster, account, QOS, partition, name,
 * array and restart of their run, as far as another row has them. Who says so (REPORT_IDENTITY)
 * stays as it is. Returns 0, or -1 with errno. */
int report_join(struct report_row *row, size_t n);

#endif
