/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_columns - which fields of a record a ledger has a column for.
 *
 * A berthctl that is newer than the berthd beside it reads a ledger that nobody has brought to its
 * schema yet: the columns that came later are missing. What they would hold is not known then, and
 * the rest is told. */
#ifndef BERTH_LEDGER_COLUMNS_H
#define BERTH_LEDGER_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

#include "packer/sql/sql.h"

/* Which fields (ledger_fields) are missing in the ledger of that version of the schema: *lacks is
 * as many answers, or NULL where none is; the caller frees it. 0, or -1 and err. */
int ledger_columns_find(bool **lacks, struct sql *sql, int version, struct berth_error *err);

/* Writes the fields' names for a SELECT; NULL stands for one that is missing. */
void ledger_columns_put(const bool *lacks, FILE *out);

/* Is there a column for the field of that name? */
bool ledger_columns_have(const bool *lacks, const char *name);

#endif
