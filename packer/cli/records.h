/* SPDX-License-Identifier: GPL-2.0-or-later */
/* records - the records of steps that have ended, for whoever types a verb. */
#ifndef BERTH_CLI_RECORDS_H
#define BERTH_CLI_RECORDS_H

#include "packer/conf/conf.h"
#include "packer/ledger/ledger.h"

/* Where records come from: the ledger that berth.conf names, or one that the command line does. */
struct records {
    const struct conf *conf;
    const char *ledger, *defaults; /* of the command line; NULL: those of berth.conf */
};

/* Returns the ledger's URL. */
const char *records_url(const struct records *records);

/* Calls fn with each record that is meant, in the order of ledger_read, until it returns other than
 * 0. Returns 0, or -1 and err: a line for people that says what they can do. */
int records_read(const struct records *records, const struct ledger_filter *filter,
                 int (*fn)(const struct ledger_record *record, void *arg), void *arg,
                 struct berth_error *err);

#endif
