/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles - see profiles.h: profiles and demands there and back, and the lookup at launch. Samples
 * are in profile_sample.c, the file itself in profiles_db.c. */
#include "profiles.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "profiles_db.h"

/* The columns of a profile, as read_row takes them, of a store of each version; and those of a
 * sample as if it were one. */
#define COLUMNS_1                                                                                  \
    "key, llc_bytes, llc_ways, line_bytes, command, hits, misses, accesses, instructions, refs,"   \
    " truncated, measured_at, source"
#define COLUMNS_LATER "instructions_per_s, shape, geometry, machine, misses_error, accesses_error"

static const char *const columns[PROFILES_SCHEMA + 1] = {
    [1] = COLUMNS_1 ", NULL, '', '', '', NULL, NULL, 0 AS co_run, 1",
    [2] = COLUMNS_1 ", instructions_per_s, '', '', '', NULL, NULL, 0 AS co_run, 1",
    [3] = COLUMNS_1 ", " COLUMNS_LATER ", 0 AS co_run, 1",
};
#define COLUMNS_SAMPLE                                                                             \
    "key, llc_bytes, 0, line_bytes, command, '[]', misses, accesses,"                              \
    " CAST(instructions AS INTEGER), 0, 0, measured_at, source, " COLUMNS_LATER ", co_run, runs"

/* Read "[h1,h2,...]" of exactly `ways` numbers. */
static int parse_hits(const char *text, unsigned ways, double *hits)
{
    struct json_object *array = text ? json_parse(text, strlen(text), NULL) : NULL;
    int rc = -1;

    if (!array)
        return -1;
    if (ways > PROFILE_WAYS_MAX || !json_object_is_type(array, json_type_array) ||
        json_object_array_length(array) != ways)
        goto out;
    for (unsigned i = 0; i < ways; i++)
        hits[i] = json_object_get_double(json_object_array_get_idx(array, i));
    rc = 0;
out:
    json_object_put(array);
    return rc;
}

static int read_row(const struct profiles *store, sqlite3_stmt *row, struct profile *profile,
                    struct berth_error *err)
{
    memset(profile, 0, sizeof(*profile));
    profiles_column_text(row, 0, profile->key, sizeof(profile->key));
    profile->llc_bytes = (uint64_t)sqlite3_column_int64(row, 1);
    profile->llc_ways = (unsigned)sqlite3_column_int64(row, 2);
    profile->line_bytes = (unsigned)sqlite3_column_int64(row, 3);
    profiles_column_text(row, 4, profile->command, sizeof(profile->command));
    profile->misses = sqlite3_column_double(row, 6);
    profile->accesses = profiles_column_number(row, 7);
    profile->instructions = (uint64_t)sqlite3_column_int64(row, 8);
    profile->references = (uint64_t)sqlite3_column_int64(row, 9);
    profile->truncated = sqlite3_column_int(row, 10) != 0;
    profile->measured_at = sqlite3_column_int64(row, 11);
    profiles_column_text(row, 12, profile->source, sizeof(profile->source));
    profile->instructions_per_s = sqlite3_column_double(row, 13); /* NULL: 0 */
    profiles_column_text(row, 14, profile->shape, sizeof(profile->shape));
    profiles_column_text(row, 15, profile->geometry, sizeof(profile->geometry));
    profiles_column_text(row, 16, profile->machine, sizeof(profile->machine));
    profile->misses_error = profiles_column_number(row, 17);
    profile->accesses_error = profiles_column_number(row, 18);
    profile->co_run = sqlite3_column_int(row, 19) != 0;
    profile->runs = (uint64_t)sqlite3_column_int64(row, 20);
    if (parse_hits((const char *)sqlite3_column_text(row, 5), profile->llc_ways, profile->hits) < 0)
        return berth_error_set(err, "%s: the profile of %.300s is damaged", store->path,
                               profile->key);
    return 0;
}

/* ---- looking up ---- */

/* The best row of a key: its class, 0 to 3 as profiles_get says, and its rowid. One program may
 * have thousands of samples (an interpreter has, one for each kind of script), so only those of the
 * same shape are looked at, and the newest few of others: both are found by an index, and sorted
 * without the rest of the row. An older store has no samples, and no shapes to compare. */
#define CANDIDATE(class, fits)                                                                     \
    "SELECT " class " AS class, " fits " AS fits, geometry = ?3 AS same, measured_at AS at,"       \
                    " rowid AS id FROM "
#define SAMPLES "sample WHERE key = ?1 AND misses IS NOT NULL AND measured_at >= ?6"
#define HERE " AND (?4 = '' OR machine = ?4)"
#define NEWEST(co_run)                                                                             \
    "SELECT * FROM (" CANDIDATE("3 * co_run", "0") SAMPLES " AND co_run = " co_run HERE            \
                                                           " ORDER BY measured_at DESC LIMIT 16)"
#define BEST_OLD                                                                                   \
    "SELECT 1 + (llc_bytes <> ?5) AS class, rowid FROM profile WHERE key = ?1"                     \
    " ORDER BY class, measured_at DESC, ?2, ?3, ?4, ?6 LIMIT 1"
#define BEST                                                                                       \
    "SELECT class, id FROM (" CANDIDATE(                                                           \
        "1 + (llc_bytes <> ?5)",                                                                   \
        "shape = ?2") "profile WHERE key = ?1 UNION ALL " CANDIDATE("3 * co_run", "1")             \
        SAMPLES HERE " AND shape = ?2 UNION ALL " NEWEST("0") " UNION ALL " NEWEST(                \
            "1") ") ORDER BY class, fits DESC, same DESC, at DESC LIMIT 1"

static int keep(struct profiles *store, const char *sql, sqlite3_stmt **statement)
{
    return sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

/* An SQLite code. */
static int prepare_lookup(struct profiles *store)
{
    struct profiles_lookup *lookup = &store->lookup;
    char sql[1024];
    int rc;

    if (lookup->best)
        return SQLITE_OK;
    snprintf(sql, sizeof(sql), "SELECT %s FROM profile WHERE rowid = ?1", columns[store->version]);
    rc = keep(store, sql, &lookup->profile);
    if (rc == SQLITE_OK && store->version >= 3)
        rc = keep(store, "SELECT " COLUMNS_SAMPLE " FROM sample WHERE rowid = ?1", &lookup->sample);
    if (rc == SQLITE_OK)
        rc = keep(store, store->version < 3 ? BEST_OLD : BEST, &lookup->best);
    if (rc != SQLITE_OK)
        profiles_lookup_free(lookup);
    return rc;
}

int profiles_bind_query(sqlite3_stmt *statement, const struct profile_query *query)
{
    const char *text[] = {query->key, query->shape, query->geometry, query->machine};
    int64_t oldest = query->max_age_days ? time(NULL) - (int64_t)query->max_age_days * 86400 : 0;
    int rc = SQLITE_OK;

    for (int i = 0; i < 4 && rc == SQLITE_OK; i++)
        rc = sqlite3_bind_text(statement, i + 1, text[i] ? text[i] : "", -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_int64(statement, 5, (sqlite3_int64)query->llc_bytes);
    return rc == SQLITE_OK ? sqlite3_bind_int64(statement, 6, oldest) : rc;
}

/* Name what makes a counted rate another one. */
static void name_source(struct profile *profile)
{
    size_t used = strlen(profile->source);

    if (profile->co_run)
        snprintf(profile->source + used, sizeof(profile->source) - used, ", co-run");
}

/* Read the row that `best` stands on, while it stands there: both see one state of the store. */
static int read_best(struct profiles *store, struct profile *profile, struct berth_error *err)
{
    sqlite3_stmt *best = store->lookup.best, *row;
    int class = sqlite3_column_int(best, 0), rc;

    row = class == 0 || class == 3 ? store->lookup.sample : store->lookup.profile;
    rc = sqlite3_bind_int64(row, 1, sqlite3_column_int64(best, 1));
    if (rc == SQLITE_OK)
        rc = sqlite3_step(row);
    rc = rc == SQLITE_ROW ? read_row(store, row, profile, err) : profiles_fail(store, rc, err);
    sqlite3_reset(row);
    return rc < 0 ? -1 : 1;
}

int profiles_get(struct profiles *store, const struct profile_query *query, struct profile *profile,
                 struct berth_error *err)
{
    int found = profiles_readable(store, err), rc;

    if (found != 1)
        return found;
    rc = prepare_lookup(store);
    if (rc != SQLITE_OK)
        return profiles_fail(store, rc, err);
    rc = profiles_bind_query(store->lookup.best, query);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(store->lookup.best);
    if (rc == SQLITE_ROW)
        found = read_best(store, profile, err);
    else
        found = rc == SQLITE_DONE ? 0 : profiles_fail(store, rc, err);
    sqlite3_reset(store->lookup.best); /* ends the read transaction */
    sqlite3_clear_bindings(store->lookup.best);
    if (found == 1)
        name_source(profile);
    return found;
}

int profiles_each(struct profiles *store, const char *key,
                  int (*visit)(const struct profile *, void *), void *arg, struct berth_error *err)
{
    sqlite3_stmt *row = NULL;
    struct profile profile;
    char sql[1024];
    int rc = profiles_readable(store, err);

    if (rc != 1)
        return rc;
    snprintf(sql, sizeof(sql),
             "SELECT %s FROM profile %s ORDER BY measured_at DESC, key, %s llc_bytes, llc_ways,"
             " line_bytes",
             columns[store->version], key ? "WHERE key = ?1" : "",
             store->version < 3 ? "" : "shape, geometry,");
    rc = profiles_prepare(store, sql, key, &row);
    while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        if (read_row(store, row, &profile, err) < 0) {
            sqlite3_finalize(row);
            return -1;
        }
        if (visit(&profile, arg) != 0)
            break;
    }
    rc = rc == SQLITE_DONE || rc == SQLITE_OK ? 0 : profiles_fail(store, rc, err);
    sqlite3_finalize(row);
    return rc;
}

/* ---- writing ---- */

/* "[h1,h2,...]" in full precision; the caller frees it. NULL when memory is short. */
static char *format_hits(const struct profile *profile)
{
    size_t size = 8 + 32 * (size_t)profile->llc_ways, used = 1;
    char *text = malloc(size);

    if (!text)
        return NULL;
    text[0] = '[';
    for (unsigned i = 0; i < profile->llc_ways; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%.17g", i ? "," : "", profile->hits[i]);
    snprintf(text + used, size - used, "]");
    return text;
}

/* Bind all but the key. */
static void bind_profile(sqlite3_stmt *statement, const struct profile *profile, const char *hits)
{
    sqlite3_bind_int64(statement, 2, (sqlite3_int64)profile->llc_bytes);
    sqlite3_bind_int64(statement, 3, profile->llc_ways);
    sqlite3_bind_int64(statement, 4, profile->line_bytes);
    sqlite3_bind_text(statement, 5, profile->command, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 6, hits, -1, SQLITE_STATIC);
    profiles_bind_number(statement, 7, profile->misses);
    profiles_bind_number(statement, 8, profile->accesses);
    sqlite3_bind_int64(statement, 9, (sqlite3_int64)profile->instructions);
    sqlite3_bind_int64(statement, 10, (sqlite3_int64)profile->references);
    sqlite3_bind_int(statement, 11, profile->truncated);
    sqlite3_bind_int64(statement, 12, profile->measured_at);
    sqlite3_bind_text(statement, 13, profile->source, -1, SQLITE_STATIC);
    profiles_bind_number(statement, 14,
                         profile->instructions_per_s > 0 ? profile->instructions_per_s : NAN);
    sqlite3_bind_text(statement, 15, profile->shape, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 16, profile->geometry, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 17, profile->machine, -1, SQLITE_STATIC);
    profiles_bind_number(statement, 18, profile->misses_error);
    profiles_bind_number(statement, 19, profile->accesses_error);
}

int profiles_import_profile(struct profiles *store, const struct profile *profile, bool replace,
                            struct berth_error *err)
{
    sqlite3_stmt *statement = NULL;
    char *hits = format_hits(profile);
    int rc;

    if (!hits)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    rc = profiles_prepare(
        store,
        "INSERT OR REPLACE INTO profile (" COLUMNS_1 ", " COLUMNS_LATER ")"
        " SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19"
        " WHERE ?20 OR NOT EXISTS (SELECT 1 FROM profile WHERE key = ?1 AND shape = ?15"
        " AND geometry = ?16 AND llc_bytes = ?2 AND llc_ways = ?3 AND line_bytes = ?4"
        " AND measured_at >= ?12)",
        profile->key, &statement);
    if (rc == SQLITE_OK) {
        bind_profile(statement, profile, hits);
        rc = sqlite3_bind_int(statement, 20, replace);
    }
    rc = profiles_finish(store, rc, statement, err);
    free(hits);
    return rc;
}

static int put_body(struct profiles *store, void *arg, struct berth_error *err)
{
    return profiles_import_profile(store, arg, true, err);
}

int profiles_put(struct profiles *store, const struct profile *profile, struct berth_error *err)
{
    if (profile->llc_ways > PROFILE_WAYS_MAX)
        return berth_error_set(err, "%s: a profile of %u ways", store->path, profile->llc_ways);
    return profiles_write(store, put_body, (void *)profile, err);
}

/* ---- forgetting ---- */

struct forget {
    const char *key;
    bool samples_only;
    int rows;
};

static int forget_body(struct profiles *store, void *arg, struct berth_error *err)
{
    static const char *const sql[] = {"DELETE FROM sample WHERE ?1 IS NULL OR key = ?1",
                                      "DELETE FROM profile WHERE ?1 IS NULL OR key = ?1",
                                      "DELETE FROM demand WHERE ?1 IS NULL OR key = ?1"};
    struct forget *forget = arg;

    forget->rows = 0;
    for (size_t i = 0; i < (forget->samples_only ? 1 : sizeof(sql) / sizeof(sql[0])); i++) {
        sqlite3_stmt *statement = NULL;
        int rc = profiles_prepare(store, sql[i], forget->key, &statement);

        rc = profiles_finish(store, rc, statement, err);
        if (rc < 0)
            return -1;
        forget->rows += rc;
    }
    return 0;
}

int profiles_forget(struct profiles *store, const char *key, bool samples_only,
                    struct berth_error *err)
{
    struct forget forget = {.key = key, .samples_only = samples_only};

    return profiles_write(store, forget_body, &forget, err) < 0 ? -1 : forget.rows;
}

/* ---- demands ---- */

/* The demand in a row's text; NULL and err. */
static struct profile_demand *read_demand(const struct profiles *store, sqlite3_stmt *row,
                                          int column, struct berth_error *err)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    struct json_object *object = text ? json_parse(text, strlen(text), err) : NULL;
    struct profile_demand *demand = object ? profile_demand_parse(object, err) : NULL;

    json_object_put(object);
    if (!demand)
        berth_error_set(err, "%s: a demand in it is damaged", store->path);
    return demand;
}

int profiles_each_demand(struct profiles *store, const char *key,
                         int (*visit)(const char *key, const struct profile_demand *, void *),
                         void *arg, struct berth_error *err)
{
    sqlite3_stmt *row = NULL;
    int rc = profiles_readable(store, err), stop = 0;

    if (rc != 1 || store->version < 2)
        return rc < 0 ? -1 : 0;
    rc = profiles_prepare(
        store, "SELECT key, body FROM demand WHERE ?1 IS NULL OR key = ?1 ORDER BY key", key, &row);
    while (!stop && rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        struct profile_demand *demand = read_demand(store, row, 1, err);

        rc = SQLITE_OK;
        stop = demand ? visit((const char *)sqlite3_column_text(row, 0), demand, arg) : -1;
        profile_demand_free(demand);
        if (!demand) {
            sqlite3_finalize(row);
            return -1;
        }
    }
    rc = rc == SQLITE_DONE || rc == SQLITE_OK ? 0 : profiles_fail(store, rc, err);
    sqlite3_finalize(row);
    return rc;
}

int profiles_get_demand(struct profiles *store, const char *key, struct profile_demand **demand,
                        struct berth_error *err)
{
    sqlite3_stmt *row = NULL;
    int found = profiles_readable(store, err), rc;

    if (found != 1 || store->version < 2)
        return found < 0 ? -1 : 0;
    rc = profiles_prepare(store, "SELECT body FROM demand WHERE key = ?1", key, &row);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(row);
    if (rc == SQLITE_ROW) {
        *demand = read_demand(store, row, 0, err);
        found = *demand ? 1 : -1;
    } else {
        found = rc == SQLITE_DONE ? 0 : profiles_fail(store, rc, err);
    }
    sqlite3_finalize(row);
    return found;
}

int profiles_import_demand(struct profiles *store, const char *key,
                           const struct profile_demand *demand, bool replace,
                           struct berth_error *err)
{
    struct json_object *object = profile_demand_json(demand);
    sqlite3_stmt *statement = NULL;
    int rc = profiles_prepare(store,
                              replace ? "INSERT OR REPLACE INTO demand (key, body) VALUES (?1, ?2)"
                                      : "INSERT OR IGNORE INTO demand (key, body) VALUES (?1, ?2)",
                              key, &statement);

    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(statement, 2,
                               json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), -1,
                               SQLITE_STATIC);
    rc = profiles_finish(store, rc, statement, err);
    json_object_put(object);
    return rc;
}

struct keyed_demand {
    const char *key;
    const struct profile_demand *demand;
};

static int put_demand_body(struct profiles *store, void *arg, struct berth_error *err)
{
    const struct keyed_demand *keyed = arg;

    return profiles_import_demand(store, keyed->key, keyed->demand, true, err);
}

int profiles_put_demand(struct profiles *store, const char *key,
                        const struct profile_demand *demand, struct berth_error *err)
{
    return profiles_write(store, put_demand_body, &(struct keyed_demand){key, demand}, err);
}

double profile_core_gbps(const struct profile *profile)
{
    if (!(profile->instructions_per_s > 0 && isfinite(profile->instructions_per_s)) ||
        profile->line_bytes == 0)
        return NAN;
    return profile->misses / 1e6 * profile->instructions_per_s * profile->line_bytes / 1e9;
}
