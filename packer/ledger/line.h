/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_line - a record as one line of JSON, as it waits for the database; or, as another kind of
 * line, who the job of records is that went before. */
#ifndef BERTH_LEDGER_LINE_H
#define BERTH_LEDGER_LINE_H

#include <stdio.h>

#include "packer/ledger/ledger.h"

#define LEDGER_LINE_MAX 65536

/* Returns the record as one line with its newline, which the caller frees. What is no UTF-8 in its
 * texts, and control characters, are '?': a database would refuse them. NULL when out of memory. */
char *ledger_line_encode(const struct ledger_record *record);

/* Writes the record as an object of what is known, and not 0: a field that is absent is as
 * ledger_record_init() has it. Texts are cleaned as those of ledger_line_encode(). json_read() with
 * ledger_fields reads it.
 */
void ledger_record_put(FILE *out, const struct ledger_record *record);

/* Reads such a line (with or without newline). Returns 0; or -1 and err: it is none, or says too
 * little to be told from others. */
int ledger_line_decode(const char *line, size_t length, struct ledger_record *record,
                       struct berth_error *err);

#define LEDGER_IDENTIFY "identify" /* its first member */

/* Do the same with who the job of records is; says whether a line tells that. */
char *ledger_identity_encode(const struct ledger_identity *identity);
int ledger_identity_decode(const char *line, size_t length, struct ledger_identity *identity,
                           struct berth_error *err);
bool ledger_line_identifies(const char *line, size_t length);

#endif
