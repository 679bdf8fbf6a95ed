/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_store - see ledger/store.h */
#include "packer/ledger/store.h"

#include <stdio.h>
#include <stdlib.h>

#include "packer/conf/conf.h"
#include "packer/ledger/schema.h"
#include "packer/sql/fields.h"

struct ledger_store {
    struct sql *sql;
    struct sql_statement *insert, *identify, *drop;
};

/* The records that are told who their job is. What slurmd has said is said better by others. A
 * record is left over that was told before, and was brought here once more since: it is there
 * already. */
#define OF_RUN " WHERE job = ? AND uid = ? AND node = ? AND \"start\" >= ? AND \"start\" <= ?"

static const char update_text[] =
    "UPDATE%s ledger_record SET identity = ?, cluster = ?, account = ?, qos = ?,"
    " \"partition\" = ?, job_name = ?, nodes = ?, array_job = ?, array_task = ?,"
    " restart = ?" OF_RUN " AND identity IN ('none', 'slurmd')";
static const char drop_text[] = "DELETE FROM ledger_record" OF_RUN " AND identity = 'none'";

static int prepare_insert(struct ledger_store *store, struct berth_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int rc = -1;

    if (!out)
        return berth_no_memory(err);
    fputs("INSERT INTO ledger_record (", out);
    sql_put_names(out, ledger_fields);
    fputs(") VALUES (", out);
    sql_put_holes(out, ledger_fields);
    fputc(')', out);
    fprintf(out, sql_words(store->sql)->or_nothing, "restart");
    if (fclose(out) == 0)
        rc = sql_prepare(store->sql, text, &store->insert, err);
    free(text);
    return rc;
}

static int prepare_identify(struct ledger_store *store, struct berth_error *err)
{
    char text[sizeof(update_text) + 16];

    snprintf(text, sizeof(text), update_text, sql_words(store->sql)->or_ignore);
    if (sql_prepare(store->sql, text, &store->identify, err) < 0)
        return -1;
    return sql_prepare(store->sql, drop_text, &store->drop, err);
}

int ledger_store_open(struct ledger_store **out, const struct conf *conf, struct berth_error *err)
{
    const struct sql_options options = {
        .defaults = conf->ledger_defaults, .writable = true, .group = conf->ledger_group};
    struct ledger_store *store = calloc(1, sizeof(*store));

    if (!store)
        return berth_no_memory(err);
    if (sql_open(&store->sql, conf->ledger, &options, err) == 0 &&
        sql_migrate(store->sql, "ledger", ledger_migration, ledger_schema, err) == 0 &&
        prepare_insert(store, err) == 0 && prepare_identify(store, err) == 0) {
        *out = store;
        return 0;
    }
    ledger_store_close(store);
    return -1;
}

void ledger_store_close(struct ledger_store *store)
{
    if (!store)
        return;
    sql_finish(store->insert);
    sql_finish(store->identify);
    sql_finish(store->drop);
    sql_close(store->sql);
    free(store);
}

static int put_one(struct ledger_store *store, const struct ledger_record *record,
                   struct berth_error *err)
{
    int rc;

    sql_bind_fields(store->insert, 0, ledger_fields, record);
    rc = sql_step(store->insert, err);
    sql_reset(store->insert);
    return rc < 0 ? -1 : 0;
}

/* Ends a transaction whose statements have returned rc. */
static int finish(struct ledger_store *store, int rc, bool *refused, struct berth_error *err)
{
    if (rc == 0)
        rc = sql_commit(store->sql, err);
    if (rc == 0)
        return 0;
    *refused = sql_refused(store->sql);
    sql_rollback(store->sql);
    return -1;
}

int ledger_store_put(struct ledger_store *store, const struct ledger_record *records, size_t n,
                     bool *refused, struct berth_error *err)
{
    int rc = sql_begin(store->sql, err);

    *refused = false;
    if (rc < 0)
        return -1;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = put_one(store, &records[i], err);
    return finish(store, rc, refused, err);
}

/* Binds which records are meant, from parameter i on, and runs the statement. */
static int run_on(struct sql_statement *statement, size_t i, const struct ledger_identity *identity,
                  struct berth_error *err)
{
    int rc;

    sql_bind_int(statement, i, identity->is.job);
    sql_bind_int(statement, i + 1, identity->is.uid);
    sql_bind_text(statement, i + 2, identity->node);
    sql_bind_int(statement, i + 3, identity->from);
    sql_bind_int(statement, i + 4, identity->to);
    rc = sql_step(statement, err);
    sql_reset(statement);
    return rc < 0 ? -1 : 0;
}

static int identify(struct ledger_store *store, const struct ledger_identity *identity,
                    struct berth_error *err)
{
    const struct wire_identity *is = &identity->is;
    const char *const text[] = {wire_source_name[is->source],
                                is->cluster,
                                is->account,
                                is->qos,
                                is->partition,
                                is->job_name};
    const uint32_t number[] = {is->nodes, is->array_job, is->array_task, is->restart};
    size_t n = 0;

    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
        sql_bind_text(store->identify, n++, text[i]);
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
        sql_bind_int(store->identify, n++, number[i]);
    if (run_on(store->identify, n, identity, err) < 0)
        return -1;
    return run_on(store->drop, 0, identity, err);
}

int ledger_store_identify(struct ledger_store *store, const struct ledger_identity *identity,
                          bool *refused, struct berth_error *err)
{
    *refused = false;
    if (sql_begin(store->sql, err) < 0)
        return -1;
    return finish(store, identify(store, identity, err), refused, err);
}

/* ---- for berth-steer ---- */

static const sql_migration steer_migration[] = {
    {"CREATE TABLE IF NOT EXISTS steer_node (node VARCHAR(64) NOT NULL PRIMARY KEY,"
     " \"at\" BIGINT NOT NULL, pressure DOUBLE)%s"},
    {"CREATE TABLE IF NOT EXISTS steer_hour (hour BIGINT NOT NULL PRIMARY KEY,"
     " begins BIGINT NOT NULL, ends BIGINT NOT NULL, steered INTEGER NOT NULL)%s"},
};
#define STEER_VERSION (sizeof(steer_migration) / sizeof(steer_migration[0]))

int ledger_store_pressure(struct ledger_store *store, const struct ledger_pressure *pressure,
                          struct berth_error *err)
{
    struct sql_statement *replace;
    int rc;

    if (sql_migrate(store->sql, "steer", steer_migration, STEER_VERSION, err) < 0 ||
        sql_prepare(store->sql, "REPLACE INTO steer_node (node, \"at\", pressure) VALUES (?, ?, ?)",
                    &replace, err) < 0)
        return -1;
    sql_bind_text(replace, 0, pressure->node);
    sql_bind_int(replace, 1, pressure->at);
    sql_bind_double(replace, 2, pressure->pressure);
    rc = sql_step(replace, err);
    sql_finish(replace);
    return rc < 0 ? -1 : 0;
}

/* ---- for who looks at all nodes (ledger/nodes.c) ---- */

static const sql_migration nodes_migration[] = {
    {"CREATE TABLE IF NOT EXISTS node_now (node VARCHAR(64) NOT NULL PRIMARY KEY,"
     " \"at\" BIGINT NOT NULL, up_at BIGINT NOT NULL, berth VARCHAR(32) NOT NULL,"
     " steps BIGINT NOT NULL, released BIGINT NOT NULL, denied BIGINT NOT NULL,"
     " refused BIGINT NOT NULL, missed BIGINT NOT NULL)%s"},
};

int ledger_store_node(struct ledger_store *store, const struct ledger_node *node,
                      struct berth_error *err)
{
    const int64_t number[] = {node->at,     node->up_at,   node->steps, node->released,
                              node->denied, node->refused, node->missed};
    struct sql_statement *replace;
    int rc;

    if (sql_migrate(store->sql, "nodes", nodes_migration, 1, err) < 0 ||
        sql_prepare(store->sql,
                    "REPLACE INTO node_now (node, berth, \"at\", up_at, steps, released, denied,"
                    " refused, missed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    &replace, err) < 0)
        return -1;
    sql_bind_text(replace, 0, node->node);
    sql_bind_text(replace, 1, node->berth);
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
        sql_bind_int(replace, 2 + i, number[i]);
    rc = sql_step(replace, err);
    sql_finish(replace);
    return rc < 0 ? -1 : 0;
}
