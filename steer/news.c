/* SPDX-License-Identifier: GPL-2.0-or-later */
/* news - see steer/news.h */
#include "steer/news.h"

#include <math.h>

#include "packer/sql/sql.h"

#define CLOCKS_DIFFER_S 60

static void take_row(const struct sql_statement *row, struct steer_nodes *nodes, int64_t now)
{
    struct steer_node *node = steer_node_find(nodes, sql_text(row, 0));
    int64_t at = sql_int(row, 1);
    double pressure = sql_double(row, 2);

    if (!node || at > now + CLOCKS_DIFFER_S || !(pressure >= 0) || isinf(pressure))
        return;
    node->at = at;
    node->pressure = pressure;
}

static int read_rows(struct sql *sql, struct steer_nodes *nodes, int64_t now,
                     struct berth_error *err)
{
    struct sql_statement *rows;
    int rc;

    if (sql_prepare(sql, "SELECT node, \"at\", pressure FROM steer_node", &rows, err) < 0)
        return sql_no_table(sql)
                   ? berth_error_set(err, "no berthd with steer = on has written to it yet")
                   : -1;
    while ((rc = sql_step(rows, err)) > 0)
        take_row(rows, nodes, now);
    sql_finish(rows);
    return rc;
}

int news_read(const char *url, const char *defaults, struct steer_nodes *nodes, int64_t now,
              struct berth_error *err)
{
    const struct sql_options options = {.defaults = defaults, .what = "ledger"};
    struct sql *sql;
    int rc;

    if (sql_open(&sql, url, &options, err) < 0)
        return berth_error_before(err, "the ledger: ");
    rc = read_rows(sql, nodes, now, err);
    sql_close(sql);
    return rc < 0 ? berth_error_before(err, "the ledger: ") : 0;
}
