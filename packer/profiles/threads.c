/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_threads - how many threads a program should have (profiles.h). */
#include <stdio.h>
#include <string.h>

#include "packer/profiles/db.h"
#include "packer/profiles/profiles.h"

#define COLUMNS "key, uid, shape, machine, cores, threads, environment, measured_at"

static void take_text(char *out, size_t size, struct sql_statement *row, size_t column)
{
    const char *text = sql_text(row, column);

    snprintf(out, size, "%s", text ? text : "");
}

static void read_row(struct sql_statement *row, struct profile_threads *threads)
{
    take_text(threads->key, sizeof(threads->key), row, 0);
    threads->uid = (uint32_t)sql_int(row, 1);
    take_text(threads->shape, sizeof(threads->shape), row, 2);
    take_text(threads->machine, sizeof(threads->machine), row, 3);
    threads->cores = (uint32_t)sql_int(row, 4);
    threads->threads = (uint32_t)sql_int(row, 5);
    threads->environment = sql_int(row, 6) != 0;
    threads->measured_at = sql_int(row, 7);
}

int profiles_each_threads_row(struct profiles *store, const struct profile_rows *rows,
                              int (*visit)(const struct profile_threads *, void *), void *arg,
                              struct berth_error *err)
{
    struct profile_threads threads;
    struct sql_statement *row;
    int rc = profiles_readable(store, err), stop = 0;

    if (rc != 1)
        return rc;
    row = profiles_prepare_rows(store, "SELECT " COLUMNS " FROM threads",
                                "key, uid, shape, machine, cores", rows, err);
    while (!stop && (rc = row ? sql_step(row, err) : -1) == 1) {
        read_row(row, &threads);
        stop = visit(&threads, arg);
        rc = 0;
    }
    sql_finish(row);
    return rc;
}

int profiles_each_threads(struct profiles *store, const char *key,
                          int (*visit)(const struct profile_threads *, void *), void *arg,
                          struct berth_error *err)
{
    return profiles_each_threads_row(store, &(struct profile_rows){.key = key, .most = -1}, visit,
                                     arg, err);
}

/* Statements are prepared anew: a launch asks only where the user said threads=auto. */
int profiles_get_threads(struct profiles *store, const struct profile_query *query, uint32_t cores,
                         struct profile_threads *threads, struct berth_error *err)
{
    struct sql_statement *row;
    int found = profiles_readable(store, err);

    if (found != 1)
        return found;
    row = profiles_prepare(store,
                           "SELECT " COLUMNS " FROM threads WHERE key = ?1 AND machine = ?2"
                           " AND cores = ?3 AND uid IN (?4, 0) AND environment"
                           " ORDER BY shape = ?5 DESC, uid = ?4 DESC, measured_at DESC LIMIT 1",
                           query->key, err);
    if (!row)
        return -1;
    sql_bind_text(row, 1, query->machine ? query->machine : "");
    sql_bind_int(row, 2, cores);
    sql_bind_int(row, 3, query->uid);
    sql_bind_text(row, 4, query->shape ? query->shape : "");
    found = sql_step(row, err);
    if (found == 1)
        read_row(row, threads);
    sql_finish(row);
    return found;
}

#define PUT                                                                                        \
    "INSERT INTO threads (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"                    \
    " ON CONFLICT (key, uid, shape, machine, cores) DO UPDATE SET threads = excluded.threads,"     \
    " environment = excluded.environment, measured_at = excluded.measured_at"                      \
    " WHERE ?9 OR measured_at <= excluded.measured_at"

int profiles_import_threads(struct profiles *store, const struct profile_threads *threads,
                            bool replace, struct berth_error *err)
{
    struct sql_statement *row = profiles_prepare(store, PUT, threads->key, err);

    if (!row)
        return -1;
    sql_bind_int(row, 1, threads->uid);
    sql_bind_text(row, 2, threads->shape);
    sql_bind_text(row, 3, threads->machine);
    sql_bind_int(row, 4, threads->cores);
    sql_bind_int(row, 5, threads->threads);
    sql_bind_int(row, 6, threads->environment);
    sql_bind_int(row, 7, threads->measured_at);
    sql_bind_int(row, 8, replace);
    return profiles_run(row, err);
}
