/* SPDX-License-Identifier: GPL-2.0-or-later */
/* records - the records of steps that have ended, for whoever types a verb. */
#ifndef BERTH_CLI_FIND_RECORDS_H
#define BERTH_CLI_FIND_RECORDS_H

#include "packer/conf/conf.h"
#include "packer/ledger/ledger.h"

#define RECORDS_PATIENCE_S 30 /* who asks for a lot is answered slowly */

/* Where records come from: the ledger that the command line names, or berth.conf does. Who may not
 * read the latter is told by berthd of his own. */
struct records {
    const struct conf *conf;
    const char *ledger, *defaults; /* of the command line; NULL: those of berth.conf */
    double patience_s;             /* with berthd, for a page; 0: RECORDS_PATIENCE_S */
    bool own;                      /* set by records_read: these were the user's own only */
};

/* Returns the ledger's URL. */
const char *records_url(const struct records *records);

/* Calls fn with each record that is meant, until it returns other than 0: in the order of
 * ledger_read, or, where berthd tells of them, in that of their ends. The filter has no states and
 * no page. Returns 0, or -1 and err: a line for people that says what they can do. */
int records_read(struct records *records, const struct ledger_filter *filter,
                 int (*fn)(const struct ledger_record *record, void *arg), void *arg,
                 struct berth_error *err);

/* Reads the hours in which berth-steer ran, where this user may read the ledger itself; else there
 * are none. Free hours->hour. */
void records_hours(const struct records *records, struct ledger_hours *hours);

#endif
