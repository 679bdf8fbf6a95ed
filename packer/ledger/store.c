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
    struct sql_statement *insert;
};

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

int ledger_store_open(struct ledger_store **out, const struct conf *conf, struct berth_error *err)
{
    const struct sql_options options = {
        .defaults = conf->ledger_defaults, .writable = true, .group = conf->ledger_group};
    struct ledger_store *store = calloc(1, sizeof(*store));

    if (!store)
        return berth_no_memory(err);
    if (sql_open(&store->sql, conf->ledger, &options, err) == 0 &&
        sql_migrate(store->sql, "ledger", ledger_migration, LEDGER_SCHEMA, err) == 0 &&
        prepare_insert(store, err) == 0) {
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

int ledger_store_put(struct ledger_store *store, const struct ledger_record *records, size_t n,
                     bool *refused, struct berth_error *err)
{
    int rc = sql_begin(store->sql, err);

    *refused = false;
    if (rc < 0)
        return -1;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = put_one(store, &records[i], err);
    if (rc == 0)
        rc = sql_commit(store->sql, err);
    if (rc == 0)
        return 0;
    *refused = sql_refused(store->sql);
    sql_rollback(store->sql);
    return -1;
}
