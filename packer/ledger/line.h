/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_line - a record as one line of JSON, as it waits in the ledger's queue. */
#ifndef BERTH_LEDGER_LINE_H
#define BERTH_LEDGER_LINE_H

#include "packer/ledger/ledger.h"

#define LEDGER_LINE_MAX 65536

/* The record as one line with its newline; the caller frees it. What is no UTF-8 in its texts, and
 * control characters, are '?': a database would refuse them. NULL when out of memory. */
char *ledger_line_encode(const struct ledger_record *record);

/* Read such a line (with or without newline). 0, or -1 and err: it is none, or says too little to
 * be told from others. */
int ledger_line_decode(const char *line, size_t length, struct ledger_record *record,
                       struct berth_error *err);

#endif
