/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_schema - a record's fields in one table, for all that goes over each of them: the
 * database, the lines that wait for it, reports. The table is called ledger_record, its columns
 * have the fields' names. */
#ifndef BERTH_LEDGER_SCHEMA_H
#define BERTH_LEDGER_SCHEMA_H

#include "packer/base/json_fields.h"
#include "packer/ledger/ledger.h"
#include "packer/sql/sql.h"

/* The fields, ended by JSON_END. Numbers that were not measured are NAN, or -1 for exit_status. */
extern const struct json_field ledger_fields[];

/* Makes a record that knows nothing: numbers NAN, texts "", exit status -1, all else 0. */
void ledger_record_init(struct ledger_record *record);

/* Version i + 1 of the schema "ledger" (sql_migrate). */
extern const sql_migration ledger_migration[];
extern const int ledger_schema; /* so many */

#endif
