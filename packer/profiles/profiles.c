/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles - see profiles.h: profiles and demands there and back, and the lookup at launch. Samples
 * are in profiles/sample.c, the file itself in profiles/db.c. */
#include "packer/profiles/profiles.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/profiles/db.h"

/* The columns of a profile, as read_row takes them; and those of a sample as if it were one. */
#define COLUMNS                                                                                    \
    "key, llc_bytes, llc_ways, line_bytes, command, hits, misses, accesses, instructions, refs,"   \
    " truncated, measured_at, source, instructions_per_s, shape, geometry, machine, misses_error," \
    " accesses_error, uid"
#define COLUMNS_PROFILE COLUMNS ", 0 AS co_run, 1, NULL"
#define COLUMNS_SAMPLE                                                                             \
    "key, llc_bytes, 0, line_bytes, command, '[]', misses, accesses,"                              \
    " CAST(instructions AS INTEGER), 0, 0, measured_at, source, instructions_per_s, shape,"        \
    " geometry, machine, misses_error, accesses_error, uid, co_run, runs, cycles"

/* When two rates are not of one program doing the same; by how much more than its accesses a
 * program may be counted to miss. */
#define APART_LEAST 100 /* a twentieth of what makes a devil */
#define APART_TIMES 2
#define ACCESSES_LEEWAY 1.1

/* Read "[h1,h2,...]" of exactly `ways` numbers. */
static int parse_hits(const char *text, unsigned ways, double *hits)
{
    struct json_object *array = text ? json_parse(text, strlen(text), NULL) : NULL;
    int rc = ways > PROFILE_WAYS_MAX
                 ? -1
                 : json_get_list(array, "hits", ways, &json_number, hits, sizeof(*hits), NULL);

    json_object_put(array);
    return rc;
}

static int read_row(const struct profiles *store, const struct sql_statement *row,
                    struct profile *profile, struct berth_error *err)
{
    memset(profile, 0, sizeof(*profile));
    sql_copy(row, 0, profile->key, sizeof(profile->key));
    profile->llc_bytes = (uint64_t)sql_int(row, 1);
    profile->llc_ways = (unsigned)sql_int(row, 2);
    profile->line_bytes = (unsigned)sql_int(row, 3);
    sql_copy(row, 4, profile->command, sizeof(profile->command));
    profile->misses = sql_double(row, 6);
    profile->accesses = sql_double(row, 7);
    profile->instructions = (uint64_t)sql_int(row, 8);
    profile->references = (uint64_t)sql_int(row, 9);
    profile->truncated = sql_int(row, 10) != 0;
    profile->measured_at = sql_int(row, 11);
    sql_copy(row, 12, profile->source, sizeof(profile->source));
    profile->instructions_per_s = sql_is_null(row, 13) ? 0 : sql_double(row, 13);
    sql_copy(row, 14, profile->shape, sizeof(profile->shape));
    sql_copy(row, 15, profile->geometry, sizeof(profile->geometry));
    sql_copy(row, 16, profile->machine, sizeof(profile->machine));
    profile->misses_error = sql_double(row, 17);
    profile->accesses_error = sql_double(row, 18);
    profile->uid = (uint32_t)sql_int(row, 19);
    profile->co_run = sql_int(row, 20) != 0;
    profile->runs = (uint64_t)sql_int(row, 21);
    profile->cycles = sql_double(row, 22);
    if (parse_hits(sql_text(row, 5), profile->llc_ways, profile->hits) < 0)
        return berth_error_set(err, "%s: the profile of %.300s is damaged", store->path,
                               profile->key);
    return 0;
}

/* ---- looking up ---- */

/* The rows of a key that are the asker's or root's, the best first: their class, 0 to 3 as
 * profiles_get says, and their rowid. One program may have thousands of samples (an interpreter
 * has, one for each kind of script), so only those of the same shape are looked at, and the newest
 * few of others: both are found by an index, and sorted without the rest of the row. */
#define CANDIDATE(class, fits)                                                                     \
    "SELECT " class " AS class, " fits " AS fits, geometry = ?3 AS same, uid = ?7 AS own,"         \
                    " measured_at AS at, rowid AS id FROM "
#define SAMPLES(owner)                                                                             \
    "sample WHERE key = ?1 AND " owner " AND misses IS NOT NULL AND measured_at >= ?6"
#define HERE " AND (?4 = '' OR machine = ?4)"
#define NEWEST_OF(uid, co_run)                                                                     \
    "SELECT * FROM (" CANDIDATE("3 * co_run", "0")                                                 \
        SAMPLES("uid = " uid) " AND co_run = " co_run HERE " ORDER BY measured_at DESC LIMIT 16)"
#define NEWEST(co_run) NEWEST_OF("?7", co_run) " UNION ALL " NEWEST_OF("0", co_run)

/* In front of them: the runs that were seen to bind their threads, as far as they still count. */
#define BINDING (-1)
#define BINDINGS                                                                                   \
    "SELECT -1 AS class, 0 AS fits, 0 AS same, 0 AS own, measured_at AS at, rowid AS id FROM"      \
    " binding WHERE key = ?1 AND uid IN (?7, 0) AND measured_at >= ?6 AND clean < runs * " CLEAN
#define TEXT_OF(number) #number
#define NUMBER_TEXT(number) TEXT_OF(number)
#define CLEAN NUMBER_TEXT(PROFILE_BINDING_CLEAN)
#define BEST                                                                                       \
    "SELECT class, id, at FROM (" BINDINGS " UNION ALL " CANDIDATE(                                \
        "1 + (llc_bytes <> ?5)", "shape = ?2") "profile WHERE key = ?1 AND uid IN (?7, 0) "        \
                                               "UNION ALL " CANDIDATE("3 * co_run", "1")           \
                                                   SAMPLES("uid IN (?7, 0)") HERE                  \
        " AND shape = ?2 UNION ALL " NEWEST("0") " UNION ALL " NEWEST(                             \
            "1") ") ORDER BY class, fits DESC, same DESC, own DESC, at DESC"

/* The statements of profiles_get, where they are not there yet. */
static int prepare_lookup(struct profiles *store, struct berth_error *err)
{
    if (store->best)
        return 0;
    if (!store->profile &&
        sql_prepare(store->sql, "SELECT " COLUMNS_PROFILE " FROM profile WHERE rowid = ?1",
                    &store->profile, err) < 0)
        return -1;
    if (!store->sample &&
        sql_prepare(store->sql, "SELECT " COLUMNS_SAMPLE " FROM sample WHERE rowid = ?1",
                    &store->sample, err) < 0)
        return -1;
    return sql_prepare(store->sql, BEST, &store->best, err);
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
    int64_t class = sql_int(store->best, 0);
    struct sql_statement *row = class == 0 || class == 3 ? store->sample : store->profile;
    int rc;

    sql_bind_int(row, 0, sql_int(store->best, 1));
    rc = sql_step(row, err);
    if (rc == 1 && read_row(store, row, profile, err) < 0)
        rc = -1;
    sql_reset(row);
    if (rc == 1)
        name_source(profile);
    return rc;
}

/* Takes the best of what was counted beside others in place of the simulated profile that it
 * contradicts, if there is any: `best` stands on that profile. */
static int prefer_counted(struct profiles *store, struct profile *profile, struct berth_error *err)
{
    struct profile counted;
    int rc;

    do
        rc = sql_step(store->best, err);
    while (rc == 1 && sql_int(store->best, 0) != 3);
    if (rc == 1)
        rc = read_best(store, &counted, err);
    if (rc == 1 && profile_apart(counted.misses, profile->misses))
        *profile = counted;
    return rc < 0 ? -1 : 0;
}

/* Goes to the first row of a profile or sample. Returns as sql_step. */
static int step_past_bindings(struct profiles *store, int64_t *bound_at, struct berth_error *err)
{
    int rc;

    while ((rc = sql_step(store->best, err)) == 1 && sql_int(store->best, 0) == BINDING)
        if (sql_int(store->best, 2) > *bound_at)
            *bound_at = sql_int(store->best, 2);
    return rc;
}

int profiles_get_bound(struct profiles *store, const struct profile_query *query,
                       struct profile *profile, int64_t *bound_at, struct berth_error *err)
{
    int found = profiles_readable(store, err);

    *bound_at = 0;
    if (found != 1)
        return found;
    if (prepare_lookup(store, err) < 0)
        return -1;
    profiles_bind_query(store->best, query);
    found = step_past_bindings(store, bound_at, err);
    if (found == 1)
        found = read_best(store, profile, err);
    if (found == 1 && profile->llc_ways && prefer_counted(store, profile, err) < 0)
        found = -1;
    sql_reset(store->best); /* ends the read transaction */
    return found == 0 && query->median ? profiles_get_median(store, query, profile, err) : found;
}

int profiles_get(struct profiles *store, const struct profile_query *query, struct profile *profile,
                 struct berth_error *err)
{
    int64_t bound_at;

    return profiles_get_bound(store, query, profile, &bound_at, err);
}

int profiles_get_distances(struct profiles *store, const struct profile_query *query,
                           struct profile *profile, struct berth_error *err)
{
    int found = profiles_readable(store, err);

    if (found != 1)
        return found;
    if (!store->distances &&
        sql_prepare(store->sql,
                    "SELECT " COLUMNS_PROFILE " FROM profile WHERE key = ?1 AND uid IN (?7, 0)"
                    " AND llc_ways > 0 ORDER BY llc_bytes <> ?5, shape = ?2 DESC,"
                    " geometry = ?3 DESC, uid = ?7 DESC, measured_at DESC LIMIT 1",
                    &store->distances, err) < 0)
        return -1;
    profiles_bind_query(store->distances, query);
    found = sql_step(store->distances, err);
    if (found == 1 && read_row(store, store->distances, profile, err) < 0)
        found = -1;
    sql_reset(store->distances);
    return found;
}

int profiles_each_row(struct profiles *store, const struct profile_rows *rows,
                      int (*visit)(const struct profile *, void *), void *arg,
                      struct berth_error *err)
{
    struct sql_statement *row;
    struct profile profile;
    int rc = profiles_readable(store, err);

    if (rc != 1)
        return rc;
    row = profiles_prepare_rows(store, "SELECT " COLUMNS_PROFILE " FROM profile",
                                "measured_at DESC, key, uid, shape, geometry, llc_bytes, llc_ways,"
                                " line_bytes",
                                rows, err);
    while ((rc = row ? sql_step(row, err) : -1) == 1) {
        rc = read_row(store, row, &profile, err);
        if (rc < 0 || visit(&profile, arg) != 0)
            break;
    }
    sql_finish(row);
    return rc;
}

int profiles_each(struct profiles *store, const char *key,
                  int (*visit)(const struct profile *, void *), void *arg, struct berth_error *err)
{
    return profiles_each_row(store, &(struct profile_rows){.key = key, .most = -1}, visit, arg,
                             err);
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
static void bind_profile(struct sql_statement *statement, const struct profile *profile,
                         const char *hits)
{
    sql_bind_int(statement, 1, (int64_t)profile->llc_bytes);
    sql_bind_int(statement, 2, profile->llc_ways);
    sql_bind_int(statement, 3, profile->line_bytes);
    sql_bind_text(statement, 4, profile->command);
    sql_bind_text(statement, 5, hits);
    sql_bind_double(statement, 6, profile->misses);
    sql_bind_double(statement, 7, profile->accesses);
    sql_bind_int(statement, 8, (int64_t)profile->instructions);
    sql_bind_int(statement, 9, (int64_t)profile->references);
    sql_bind_int(statement, 10, profile->truncated);
    sql_bind_int(statement, 11, profile->measured_at);
    sql_bind_text(statement, 12, profile->source);
    sql_bind_double(statement, 13,
                    profile->instructions_per_s > 0 ? profile->instructions_per_s : NAN);
    sql_bind_text(statement, 14, profile->shape);
    sql_bind_text(statement, 15, profile->geometry);
    sql_bind_text(statement, 16, profile->machine);
    sql_bind_double(statement, 17, profile->misses_error);
    sql_bind_double(statement, 18, profile->accesses_error);
    sql_bind_int(statement, 19, profile->uid);
}

int profiles_import_profile(struct profiles *store, const struct profile *profile, bool replace,
                            struct berth_error *err)
{
    struct sql_statement *statement;
    char *hits = format_hits(profile);
    int rc = -1;

    if (!hits)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    statement = profiles_prepare(
        store,
        "INSERT OR REPLACE INTO profile (" COLUMNS ")"
        " SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20"
        " WHERE ?21 OR NOT EXISTS (SELECT 1 FROM profile WHERE key = ?1 AND uid = ?20"
        " AND shape = ?15"
        " AND geometry = ?16 AND llc_bytes = ?2 AND llc_ways = ?3 AND line_bytes = ?4"
        " AND measured_at >= ?12)",
        profile->key, err);
    if (statement) {
        bind_profile(statement, profile, hits);
        sql_bind_int(statement, 20, replace);
        rc = profiles_run(statement, err);
    }
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

/* ---- demands ---- */

/* The demand in a column; NULL and err. */
static struct profile_demand *read_demand(const struct profiles *store,
                                          const struct sql_statement *row, size_t column,
                                          struct berth_error *err)
{
    const char *text = sql_text(row, column);
    struct json_object *object = json_parse(text, strlen(text), err);
    struct profile_demand *demand = object ? profile_demand_parse(object, err) : NULL;

    json_object_put(object);
    if (!demand)
        berth_error_set(err, "%s: a demand in it is damaged", store->path);
    return demand;
}

int profiles_each_demand_row(struct profiles *store, const struct profile_rows *rows,
                             int (*visit)(uint32_t uid, const char *key,
                                          const struct profile_demand *, void *),
                             void *arg, struct berth_error *err)
{
    struct sql_statement *row;
    int rc = profiles_readable(store, err), stop = 0;

    if (rc != 1)
        return rc;
    row = profiles_prepare_rows(store, "SELECT key, body, uid FROM demand", "key, uid", rows, err);
    while (!stop && (rc = row ? sql_step(row, err) : -1) == 1) {
        struct profile_demand *demand = read_demand(store, row, 1, err);

        rc = demand ? 0 : -1;
        stop = demand ? visit((uint32_t)sql_int(row, 2), sql_text(row, 0), demand, arg) : -1;
        profile_demand_free(demand);
    }
    sql_finish(row);
    return rc;
}

int profiles_each_demand(struct profiles *store, const char *key,
                         int (*visit)(uint32_t uid, const char *key, const struct profile_demand *,
                                      void *),
                         void *arg, struct berth_error *err)
{
    return profiles_each_demand_row(store, &(struct profile_rows){.key = key, .most = -1}, visit,
                                    arg, err);
}

int profiles_get_demand(struct profiles *store, uint32_t uid, const char *key,
                        struct profile_demand **demand, struct berth_error *err)
{
    int found = profiles_readable(store, err);

    if (found != 1)
        return found;
    if (!store->demand &&
        sql_prepare(store->sql,
                    "SELECT body FROM demand WHERE key = ?1 AND uid IN (?2, 0)"
                    " ORDER BY " PROFILE_DEMAND_MEASURED ", uid = ?2 DESC LIMIT 1",
                    &store->demand, err) < 0)
        return -1;
    sql_bind_text(store->demand, 0, key);
    sql_bind_int(store->demand, 1, uid);
    found = sql_step(store->demand, err);
    if (found == 1 && !(*demand = read_demand(store, store->demand, 0, err)))
        found = -1;
    sql_reset(store->demand); /* ends the read transaction */
    return found;
}

/* What was told stays until somebody replaces it, what was measured until that is done again. */
#define PUT_DEMAND                                                                                 \
    "INSERT INTO demand (key, body, uid) VALUES (?1, ?2, ?3)"                                      \
    " ON CONFLICT (key, uid) DO UPDATE SET body = excluded.body WHERE "
#define NEWER_DEMAND                                                                               \
    PROFILE_DEMAND_MEASURED " AND json_extract(demand.body, '$.measured_at') <= ?4"                \
                            " AND (NOT ?5 OR json_extract(demand.body, '$.disturbed'))"

int profiles_import_demand(struct profiles *store, uint32_t uid, const char *key,
                           const struct profile_demand *demand, bool replace,
                           struct berth_error *err)
{
    struct json_object *object = profile_demand_json(demand);
    struct sql_statement *statement = profiles_prepare(
        store,
        replace          ? "INSERT OR REPLACE INTO demand (key, body, uid) VALUES (?1, ?2, ?3)"
        : demand->matrix ? PUT_DEMAND NEWER_DEMAND
                         : PUT_DEMAND PROFILE_DEMAND_MEASURED,
        key, err);
    int rc = -1;

    if (statement) {
        sql_bind_text(statement, 1, json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
        sql_bind_int(statement, 2, uid);
        if (!replace && demand->matrix) {
            sql_bind_int(statement, 3, demand->measured_at);
            sql_bind_int(statement, 4, demand->disturbed);
        }
        rc = profiles_run(statement, err);
    }
    json_object_put(object);
    return rc;
}

struct keyed_demand {
    uint32_t uid;
    const char *key;
    const struct profile_demand *demand;
};

static int put_demand_body(struct profiles *store, void *arg, struct berth_error *err)
{
    const struct keyed_demand *keyed = arg;

    return profiles_import_demand(store, keyed->uid, keyed->key, keyed->demand,
                                  keyed->demand->matrix == PROFILE_MATRIX_TOLD, err);
}

int profiles_put_demand(struct profiles *store, uint32_t uid, const char *key,
                        const struct profile_demand *demand, struct berth_error *err)
{
    return profiles_write(store, put_demand_body, &(struct keyed_demand){uid, key, demand}, err);
}

double profile_clock_ghz(const struct profile *profile)
{
    if (!(profile->instructions_per_s > 0 && isfinite(profile->instructions_per_s)))
        return NAN;
    return profile->cycles / 1e6 * profile->instructions_per_s / 1e9;
}

double profile_core_gbps(const struct profile *profile)
{
    if (!(profile->instructions_per_s > 0 && isfinite(profile->instructions_per_s)) ||
        profile->line_bytes == 0)
        return NAN;
    return profile->misses / 1e6 * profile->instructions_per_s * profile->line_bytes / 1e9;
}

bool profile_apart(double a, double b)
{
    return fabs(a - b) > APART_LEAST && fmax(a, b) > APART_TIMES * fmin(a, b);
}

bool profile_contradicts(const struct profile *counted, const struct profile *distances)
{
    if (!counted->co_run)
        return profile_apart(counted->misses, distances->misses);
    return counted->misses > distances->accesses
               ? counted->misses > ACCESSES_LEEWAY * distances->accesses + APART_LEAST
               : counted->misses < distances->misses &&
                     profile_apart(counted->misses, distances->misses);
}
