/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hours - the hours in which berth-steer ran (ledger.h): it writes them itself, steer/hours.c. */
#include <stdlib.h>

#include "packer/base/array.h"
#include "packer/ledger/ledger.h"
#include "packer/sql/sql.h"

static int take_row(const struct sql_statement *row, struct ledger_hours *hours,
                    struct berth_error *err)
{
    if (array_grow(&hours->hour, &hours->room, hours->n + 1, sizeof(*hours->hour)) < 0)
        return berth_no_memory(err);
    hours->hour[hours->n++] =
        (struct ledger_hour){sql_int(row, 0), sql_int(row, 1), sql_int(row, 2) != 0};
    return 0;
}

static int read_rows(struct sql *sql, int64_t since, struct ledger_hours *hours,
                     struct berth_error *err)
{
    struct sql_statement *rows;
    int rc;

    if (sql_prepare(sql,
                    "SELECT begins, ends, steered FROM steer_hour WHERE ends > ? ORDER BY begins",
                    &rows, err) < 0)
        return sql_no_table(sql) ? 0 : -1;
    sql_bind_int(rows, 0, since);
    while ((rc = sql_step(rows, err)) > 0 && take_row(rows, hours, err) == 0)
        ;
    sql_finish(rows);
    return rc == 0 ? 0 : -1;
}

int ledger_hours_read(const char *url, const char *defaults_file, int64_t since,
                      struct ledger_hours *hours, struct berth_error *err)
{
    const struct sql_options options = {.defaults = defaults_file, .group = "", .what = "ledger"};
    struct sql *sql;
    int rc;

    *hours = (struct ledger_hours){0};
    if (sql_open(&sql, url, &options, err) < 0)
        return -1;
    rc = read_rows(sql, since, hours, err);
    sql_close(sql);
    if (rc < 0) {
        free(hours->hour);
        *hours = (struct ledger_hours){0};
    }
    return rc;
}
