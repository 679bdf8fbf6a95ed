/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_forget - what leaves the profile store: what is not wanted any more, and what is old
 * (profiles.h). */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "packer/profiles/db.h"
#include "packer/profiles/profiles.h"

/* ---- by key ---- */

/* Which rows of each table: "DELETE FROM sample WHERE ..", "SELECT count(*) FROM sample ..". Pairs
 * are forgotten by pair_forget.c. */
#define MEANT " WHERE (?1 IS NULL OR key = ?1) AND (?2 IS NULL OR uid = ?2)"
static const char *const meant[] = {" FROM sample" MEANT,  " FROM pair WHERE " PROFILE_PAIRS_MEANT,
                                    " FROM binding" MEANT, " FROM profile" MEANT,
                                    " FROM demand" MEANT,  " FROM threads" MEANT};
#define TABLES (sizeof(meant) / sizeof(meant[0]))
#define COUNTED 3 /* the first, which are of what was seen of runs */
#define PAIR 1

struct forget {
    const uint32_t *uid;
    const char *key;
    bool samples_only;
    int rows;
};

static struct sql_statement *prepare(struct profiles *store, const char *verb, size_t table,
                                     const struct forget *forget, struct berth_error *err)
{
    struct sql_statement *statement;
    char sql[512];

    snprintf(sql, sizeof(sql), "%s%s", verb, meant[table]);
    statement = profiles_prepare(store, sql, forget->key, err);
    if (statement)
        profiles_bind_owner(statement, forget->uid);
    return statement;
}

static int forget_body(struct profiles *store, void *arg, struct berth_error *err)
{
    struct forget *forget = arg;

    for (size_t i = 0; i < (forget->samples_only ? COUNTED : TABLES); i++) {
        struct sql_statement *statement =
            i == PAIR ? NULL : prepare(store, "DELETE", i, forget, err);
        int rc = i == PAIR   ? profiles_forget_pairs(store, forget->uid, forget->key, err)
                 : statement ? profiles_run(statement, err)
                             : -1;

        if (rc < 0)
            return -1;
        forget->rows += rc;
    }
    return 0;
}

int profiles_forget(struct profiles *store, const uint32_t *uid, const char *key, bool samples_only,
                    struct berth_error *err)
{
    struct forget forget = {.uid = uid, .key = key, .samples_only = samples_only};

    return profiles_write(store, forget_body, &forget, err) < 0 ? -1 : forget.rows;
}

int profiles_count(struct profiles *store, const uint32_t *uid, const char *key, bool samples_only,
                   struct berth_error *err)
{
    const struct forget count = {.uid = uid, .key = key};
    int rc = profiles_readable(store, err), rows = 0;

    for (size_t i = 0; rc == 1 && i < (samples_only ? COUNTED : TABLES); i++) {
        struct sql_statement *row = prepare(store, "SELECT count(*)", i, &count, err);

        rc = row ? sql_step(row, err) : -1;
        rows += rc == 1 ? (int)sql_int(row, 0) : 0;
        sql_finish(row);
    }
    return rc < 0 ? -1 : rows;
}

/* ---- by age ---- */

struct ageing {
    uint64_t days;
    int rows;
};

/* Runs one of the ageing's statements, with two numbers. Adds the rows. */
static int age_by(struct profiles *store, const char *sql, int64_t a, int64_t b, int *rows,
                  struct berth_error *err)
{
    struct sql_statement *statement = profiles_prepare(store, sql, NULL, err);
    int rc = -1;

    if (statement) {
        sql_bind_int(statement, 0, a);
        sql_bind_int(statement, 1, b);
        rc = profiles_run(statement, err);
    }
    *rows += rc > 0 ? rc : 0;
    return rc < 0 ? -1 : 0;
}

#define BEYOND(table)                                                                              \
    "DELETE FROM " table " WHERE rowid IN (SELECT id FROM (SELECT rowid AS id, row_number() OVER"  \
    " (PARTITION BY uid ORDER BY measured_at DESC) AS n FROM " table " WHERE uid <> 0)"            \
    " WHERE n > ?1) AND ?2"

#define DEMAND_AT "json_extract(body, '$.measured_at')"
#define DEMANDS PROFILE_DEMAND_MEASURED " AND json_valid(body)"

/* Demands that were measured; those that were told stay. */
static int age_demands(struct profiles *store, int64_t oldest, int *rows, struct berth_error *err)
{
    if (age_by(store, "DELETE FROM demand WHERE " DEMANDS " AND " DEMAND_AT " < ?1 AND ?2", oldest,
               1, rows, err) < 0)
        return -1;
    return age_by(store,
                  "DELETE FROM demand WHERE rowid IN (SELECT id FROM (SELECT rowid AS id,"
                  " row_number() OVER (PARTITION BY uid ORDER BY " DEMAND_AT " DESC) AS n FROM"
                  " demand WHERE uid <> 0 AND " DEMANDS ") WHERE n > ?1) AND ?2",
                  PROFILE_ROWS_OF_ONE, 1, rows, err);
}

static int age_body(struct profiles *store, void *arg, struct berth_error *err)
{
    struct ageing *ageing = arg;
    int64_t oldest = ageing->days ? time(NULL) - (int64_t)ageing->days * 86400 : INT64_MIN;
    int pairs;

    if (age_by(store,
               "DELETE FROM sample WHERE measured_at < ?1 OR measured_at < (SELECT"
               " measured_at FROM sample ORDER BY measured_at DESC LIMIT 1 OFFSET ?2 - 1)",
               oldest, PROFILE_SAMPLES_MAX, &ageing->rows, err) < 0 ||
        age_by(store, BEYOND("sample"), PROFILE_ROWS_OF_ONE, 1, &ageing->rows, err) < 0 ||
        age_by(store, BEYOND("profile"), PROFILE_ROWS_OF_ONE, 1, &ageing->rows, err) < 0 ||
        age_by(store, BEYOND("threads"), PROFILE_ROWS_OF_ONE, 1, &ageing->rows, err) < 0 ||
        age_by(store, "DELETE FROM binding WHERE measured_at < ?1 AND ?2", oldest, 1, &ageing->rows,
               err) < 0 ||
        age_by(store, BEYOND("binding"), PROFILE_ROWS_OF_ONE, 1, &ageing->rows, err) < 0 ||
        age_demands(store, oldest, &ageing->rows, err) < 0)
        return -1;
    pairs = profiles_age_pairs(store, oldest, err);
    ageing->rows += pairs;
    return pairs < 0 ? -1 : 0;
}

int profiles_age(struct profiles *store, uint64_t days, struct berth_error *err)
{
    struct ageing ageing = {.days = days};

    return profiles_write(store, age_body, &ageing, err) < 0 ? -1 : ageing.rows;
}
