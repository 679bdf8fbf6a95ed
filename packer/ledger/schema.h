/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_schema - a record's fields in one table, for all that goes over each of them: the
 * database, the queue's lines, reports. The table is called ledger_record, its columns have the
 * fields' names. */
#ifndef BERTH_LEDGER_SCHEMA_H
#define BERTH_LEDGER_SCHEMA_H

#include <stddef.h>

#include "packer/ledger/ledger.h"
#include "packer/sql/sql.h"

enum ledger_type {
    LEDGER_TEXT,   /* char[size] */
    LEDGER_U32,    /* uint32_t */
    LEDGER_U64,    /* uint64_t */
    LEDGER_I64,    /* int64_t */
    LEDGER_STATUS, /* int; null where it is -1 */
    LEDGER_DOUBLE, /* double; null where it is NAN */
    LEDGER_WHOLE   /* double that is a whole number; null where it is NAN */
};

struct ledger_field {
    const char *name; /* "job", "uj_package" */
    enum ledger_type type;
    size_t offset, size; /* in struct ledger_record */
    const char *unit;    /* for people: "s", "KiB", "uJ", "W", "J s", ..; "" none */
};

#define LEDGER_WHOLE_MAX 9.2e18 /* greater ones are not known */

#define LEDGER_FIELDS 47
extern const struct ledger_field ledger_field[LEDGER_FIELDS];

/* The field of that name, or NULL. */
const struct ledger_field *ledger_field_named(const char *name);

/* A record that knows nothing: numbers NAN, texts "", exit status -1, all else 0. */
void ledger_record_init(struct ledger_record *record);

/* Version i + 1 of the schema "ledger" (sql_migrate). */
#define LEDGER_SCHEMA 1
extern const sql_migration ledger_migration[LEDGER_SCHEMA];

#endif
