/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_line - a record as one line of JSON, as it waits for the database. */
#ifndef BERTH_LEDGER_LINE_H
#define BERTH_LEDGER_LINE_H

#include "packer/ledger/ledger.h"

#define LEDGER_LINE_MAX 65536

/* Returns the record as one line with its newline, which the caller frees. What is no UTF-8 in its
 * texts, and control characters, are '?': a database would refuse them. NULL when out of memory. */
char *ledger_line_encode(const struct ledger_record *record);

/* Reads such a line (with or without newline). Returns 0; or -1 and err: it is none, or says too
 * little to be told from others. */
int ledger_line_decode(const char *line, size_t length, struct ledger_record *record,
                       struct berth_error *err);

#endif
