/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_columns - see ledger/columns.h. A column is asked for by a query that reads no row: the
 * two databases name their columns in different ways, but both say when one is missing. */
#include "packer/ledger/columns.h"

#include <stdlib.h>
#include <string.h>

#include "packer/ledger/schema.h"

/* Returns 1 where there is such a column, 0 where there is none, or -1 and err. */
static int has_column(struct sql *sql, const char *name, struct berth_error *err)
{
    struct sql_statement *statement;
    char text[128];

    snprintf(text, sizeof(text), "SELECT \"%s\" FROM ledger_record WHERE 1 = 0", name);
    if (sql_prepare(sql, text, &statement, err) < 0)
        return sql_no_column(sql) ? 0 : -1;
    sql_finish(statement);
    return 1;
}

int ledger_columns_find(bool **lacks, struct sql *sql, int version, struct berth_error *err)
{
    size_t n = 0;

    *lacks = NULL;
    if (version == ledger_schema)
        return 0;
    while (ledger_fields[n].name)
        n++;
    *lacks = calloc(n, sizeof(**lacks));
    if (!*lacks)
        return berth_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        int has = has_column(sql, ledger_fields[i].name, err);

        if (has < 0) {
            free(*lacks);
            *lacks = NULL;
            return -1;
        }
        (*lacks)[i] = !has;
    }
    return 0;
}

void ledger_columns_put(const bool *lacks, FILE *out)
{
    for (size_t i = 0; ledger_fields[i].name; i++) {
        fputs(i ? ", " : "", out);
        if (lacks && lacks[i])
            fputs("NULL", out);
        else
            fprintf(out, "\"%s\"", ledger_fields[i].name);
    }
}

bool ledger_columns_have(const bool *lacks, const char *name)
{
    for (size_t i = 0; lacks && ledger_fields[i].name; i++)
        if (strcmp(ledger_fields[i].name, name) == 0)
            return !lacks[i];
    return true;
}
