/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steered - what berth-steer has brought, by its own standing trial: in some hours, by lot, it
 * leaves the choice of nodes to Slurm.
 *
 * A run of a job is of the hour in which its first step started: what decides on its node is
 * decided then. Compared is the log of its time (benefit.h), within a program; a job is a
 * measurement. But the lot was drawn for hours, and jobs of one hour have met the same machine: so
 * the interval is by hours, each of which is left out in turn (the jackknife over clusters; Cameron
 * and Miller 2015), with Student's t of the way that has fewer hours.
 *
 * It tells what a job gains by where it is sent. What it spares those who run there already is in
 * no difference between hours, for they began in others. */
#ifndef BERTH_REPORT_STEERED_H
#define BERTH_REPORT_STEERED_H

#include "packer/report/benefit.h"
#include "packer/report/benefit_programs.h"

struct steered;

/* Makes one for these hours, which are borrowed. NULL: no memory. */
struct steered *steered_new(const struct ledger_hours *hours);
void steered_free(struct steered *steered); /* NULL is fine */

/* Notes a record, whatever it is of: the records of a run have to come one after the other, the
 * first by its start first. */
void steered_note(struct steered *steered, const struct ledger_record *record);

/* Takes in what the record that was noted last has measured of a program. 0, or -1 with errno. */
int steered_add(struct steered *steered, const struct benefit_alike *alike,
                const double value[BENEFIT_SCALES], double core_s);

/* Fills in what all of it says; nothing is known where there is no memory. */
void steered_conclude(struct steered *steered, struct benefit_steering *result);

#endif
