/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nodes - the last news of each node (ledger.h), which ledger/store.c has written. */
#include <stdio.h>

#include "packer/ledger/ledger.h"
#include "packer/sql/sql.h"

static void take_row(const struct sql_statement *row, struct ledger_node *node)
{
    *node = (struct ledger_node){.at = sql_int(row, 2),
                                 .up_at = sql_int(row, 3),
                                 .steps = sql_int(row, 4),
                                 .released = sql_int(row, 5) != 0,
                                 .denied = sql_int(row, 6) != 0,
                                 .refused = sql_int(row, 7),
                                 .missed = sql_int(row, 8)};
    snprintf(node->node, sizeof(node->node), "%.63s", sql_text(row, 0));
    snprintf(node->berth, sizeof(node->berth), "%.31s", sql_text(row, 1));
}

static int read_rows(struct sql *sql, int (*fn)(const struct ledger_node *node, void *arg),
                     void *arg, struct berth_error *err)
{
    struct sql_statement *rows;
    struct ledger_node node;
    int rc;

    if (sql_prepare(sql,
                    "SELECT node, berth, \"at\", up_at, steps, released, denied, refused, missed"
                    " FROM node_now ORDER BY node",
                    &rows, err) < 0)
        return sql_no_table(sql) ? 0 : -1;
    while ((rc = sql_step(rows, err)) > 0) {
        take_row(rows, &node);
        if (fn(&node, arg) != 0)
            break;
    }
    sql_finish(rows);
    return rc < 0 ? -1 : 0;
}

int ledger_nodes_read(const char *url, const char *defaults,
                      int (*fn)(const struct ledger_node *node, void *arg), void *arg,
                      struct berth_error *err)
{
    const struct sql_options options = {.defaults = defaults, .what = "ledger"};
    struct sql *sql;
    int rc;

    if (sql_open(&sql, url, &options, err) < 0)
        return -1;
    rc = read_rows(sql, fn, arg, err);
    sql_close(sql);
    return rc;
}
