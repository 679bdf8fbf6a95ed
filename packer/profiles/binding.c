/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_binding - which programs were seen to bind their threads, though nothing had said so when
 * they started (profiles.h). A launch is told by the lookup of its profile. */
#include <stdio.h>
#include <string.h>

#include "packer/profiles/db.h"
#include "packer/profiles/profiles.h"

#define COLUMNS "key, uid, runs, clean, measured_at"

static void read_row(struct sql_statement *row, struct profile_binding *binding)
{
    sql_copy(row, 0, binding->key, sizeof(binding->key));
    binding->uid = (uint32_t)sql_int(row, 1);
    binding->runs = (uint64_t)sql_int(row, 2);
    binding->clean = (uint64_t)sql_int(row, 3);
    binding->measured_at = sql_int(row, 4);
}

int profiles_each_binding_row(struct profiles *store, const struct profile_rows *rows,
                              int (*visit)(const struct profile_binding *, void *), void *arg,
                              struct berth_error *err)
{
    struct profile_binding binding;
    struct sql_statement *row;
    int rc = profiles_readable(store, err), stop = 0;

    if (rc != 1)
        return rc;
    row = profiles_prepare_rows(store, "SELECT " COLUMNS " FROM binding", "key, uid", rows, err);
    while (!stop && (rc = row ? sql_step(row, err) : -1) == 1) {
        read_row(row, &binding);
        stop = visit(&binding, arg);
        rc = 0;
    }
    sql_finish(row);
    return rc;
}

int profiles_each_binding(struct profiles *store, const char *key,
                          int (*visit)(const struct profile_binding *, void *), void *arg,
                          struct berth_error *err)
{
    return profiles_each_binding_row(store, &(struct profile_rows){.key = key, .most = -1}, visit,
                                     arg, err);
}

bool profile_binding_over(const struct profile_binding *binding)
{
    return binding->clean >= binding->runs * PROFILE_BINDING_CLEAN;
}

/* ---- writing ---- */

#define IMPORT                                                                                     \
    "INSERT INTO binding (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (key, uid)"         \
    " DO UPDATE SET runs = excluded.runs, clean = excluded.clean,"                                 \
    " measured_at = excluded.measured_at WHERE ?6 OR measured_at <= excluded.measured_at"

int profiles_import_binding(struct profiles *store, const struct profile_binding *binding,
                            bool replace, struct berth_error *err)
{
    struct sql_statement *row = profiles_prepare(store, IMPORT, binding->key, err);

    if (!row)
        return -1;
    sql_bind_int(row, 1, binding->uid);
    sql_bind_int(row, 2, (int64_t)binding->runs);
    sql_bind_int(row, 3, (int64_t)binding->clean);
    sql_bind_int(row, 4, binding->measured_at);
    sql_bind_int(row, 5, replace);
    return profiles_run(row, err);
}

/* One run more that bound its threads; one more that did not. */
#define BOUND                                                                                      \
    "INSERT INTO binding (" COLUMNS ") VALUES (?1, ?2, 1, 0, ?3) ON CONFLICT (key, uid)"           \
    " DO UPDATE SET runs = runs + 1, clean = 0,"                                                   \
    " measured_at = max(measured_at, excluded.measured_at)"
#define CLEAN                                                                                      \
    "UPDATE binding SET clean = clean + 1 WHERE key = ?1 AND uid = ?2 AND measured_at <= ?3"

struct run {
    uint32_t uid;
    const char *key;
    bool bound;
    int64_t at;
};

static int put_body(struct profiles *store, void *arg, struct berth_error *err)
{
    const struct run *run = arg;
    struct sql_statement *row = profiles_prepare(store, run->bound ? BOUND : CLEAN, run->key, err);

    if (!row)
        return -1;
    sql_bind_int(row, 1, run->uid);
    sql_bind_int(row, 2, run->at);
    return profiles_run(row, err);
}

int profiles_put_binding(struct profiles *store, uint32_t uid, const char *key, bool bound,
                         int64_t at, struct berth_error *err)
{
    struct run run = {uid, key, bound, at};

    return profiles_write(store, put_body, &run, err);
}
