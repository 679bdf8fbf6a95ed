/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_sample - what berthd counts of steps: averaged over runs, stored and aged (profiles.h).
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "profiles.h"
#include "profiles_db.h"

#define NEWEST_WEIGHS 0.2

const char *const profile_rate_name[PROFILE_RATES] = {
    "misses",      "accesses", "cycles",    "stalls",    "reads_remote",   "instructions_per_s",
    "bytes_per_s", "cpus",     "run_delay", "lock_wait", "switches_per_s", "occupancy_bytes",
    "rss_bytes",   "intensity"};

#define FIXED 14 /* columns before those of the rates */
#define COLUMNS                                                                                    \
    "key, shape, geometry, machine, co_run, source, command, llc_bytes, line_bytes, windows,"      \
    " seconds, instructions, runs, measured_at"
#define SQL_MAX 2048

void profile_sample_init(struct profile_sample *sample)
{
    memset(sample, 0, sizeof(*sample));
    sample->runs = 1;
    for (int i = 0; i < PROFILE_RATES; i++)
        sample->rate[i] = (struct profile_estimate){NAN, NAN};
}

/* ---- averages ---- */

/* The half width of (1 - w) a + w b. */
static double merged_error(const struct profile_estimate *a, const struct profile_estimate *b,
                           double w)
{
    double apart = fabs(a->mean - b->mean), both = hypot(a->error, b->error);
    double error = hypot((1 - w) * a->error, w * b->error);

    if (isnan(a->error) ||
        isnan(b->error)) /* one is not known: it may be off by what they differ */
        return hypot(isnan(a->error) ? b->error : a->error, apart);
    if (apart <= both)
        return error;
    return both > 0 ? error * apart / both : hypot((1 - w), w) * apart / M_SQRT2;
}

/* w: the weight of the newer one. */
static void merge_rate(struct profile_estimate *known, const struct profile_estimate *newer,
                       double w)
{
    double error;

    if (isnan(newer->mean))
        return;
    if (isnan(known->mean)) {
        *known = *newer;
        return;
    }
    error = merged_error(known, newer, w);
    known->mean += w * (newer->mean - known->mean);
    known->error = error;
}

void profile_sample_merge(struct profile_sample *known, const struct profile_sample *newer)
{
    double w = fmax(newer->windows / (known->windows + newer->windows), NEWEST_WEIGHS);

    for (int i = 0; i < PROFILE_RATES; i++)
        merge_rate(&known->rate[i], &newer->rate[i], w);
    memcpy(known->command, newer->command, sizeof(known->command));
    known->llc_bytes = newer->llc_bytes;
    known->line_bytes = newer->line_bytes;
    known->windows += newer->windows;
    known->seconds += newer->seconds;
    known->instructions += newer->instructions;
    known->runs += newer->runs;
    known->measured_at = newer->measured_at;
}

/* ---- rows ---- */

/* Append the rates' columns to a text. */
static size_t append_rates(char *text, size_t size, size_t used)
{
    for (int i = 0; i < PROFILE_RATES; i++)
        used += (size_t)snprintf(text + used, size - used, ", %s, %s_error", profile_rate_name[i],
                                 profile_rate_name[i]);
    return used;
}

/* "SELECT columns FROM sample REST" */
static void select_sql(char sql[SQL_MAX], const char *rest)
{
    size_t used = (size_t)snprintf(sql, SQL_MAX, "SELECT " COLUMNS);

    used = append_rates(sql, SQL_MAX, used);
    snprintf(sql + used, SQL_MAX - used, " FROM sample %s", rest);
}

static void read_row(sqlite3_stmt *row, struct profile_sample *sample)
{
    profile_sample_init(sample);
    profiles_column_text(row, 0, sample->key, sizeof(sample->key));
    profiles_column_text(row, 1, sample->shape, sizeof(sample->shape));
    profiles_column_text(row, 2, sample->geometry, sizeof(sample->geometry));
    profiles_column_text(row, 3, sample->machine, sizeof(sample->machine));
    sample->co_run = sqlite3_column_int(row, 4) != 0;
    profiles_column_text(row, 5, sample->source, sizeof(sample->source));
    profiles_column_text(row, 6, sample->command, sizeof(sample->command));
    sample->llc_bytes = (uint64_t)sqlite3_column_int64(row, 7);
    sample->line_bytes = (unsigned)sqlite3_column_int64(row, 8);
    sample->windows = sqlite3_column_double(row, 9);
    sample->seconds = sqlite3_column_double(row, 10);
    sample->instructions = sqlite3_column_double(row, 11);
    sample->runs = (uint64_t)sqlite3_column_int64(row, 12);
    sample->measured_at = sqlite3_column_int64(row, 13);
    for (int i = 0; i < PROFILE_RATES; i++) {
        sample->rate[i].mean = profiles_column_number(row, FIXED + 2 * i);
        sample->rate[i].error = profiles_column_number(row, FIXED + 2 * i + 1);
    }
}

/* What makes a row of a sample: the first six columns. */
static void bind_identity(sqlite3_stmt *statement, const struct profile_sample *sample)
{
    sqlite3_bind_text(statement, 1, sample->key, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, sample->shape, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, sample->geometry, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 4, sample->machine, -1, SQLITE_STATIC);
    sqlite3_bind_int(statement, 5, sample->co_run);
    sqlite3_bind_text(statement, 6, sample->source, -1, SQLITE_STATIC);
}

static void bind_values(sqlite3_stmt *statement, const struct profile_sample *sample)
{
    sqlite3_bind_text(statement, 7, sample->command, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 8, (sqlite3_int64)sample->llc_bytes);
    sqlite3_bind_int64(statement, 9, sample->line_bytes);
    sqlite3_bind_double(statement, 10, sample->windows);
    sqlite3_bind_double(statement, 11, sample->seconds);
    sqlite3_bind_double(statement, 12, sample->instructions);
    sqlite3_bind_int64(statement, 13, (sqlite3_int64)sample->runs);
    sqlite3_bind_int64(statement, 14, sample->measured_at);
    for (int i = 0; i < PROFILE_RATES; i++) {
        profiles_bind_number(statement, FIXED + 2 * i + 1, sample->rate[i].mean);
        profiles_bind_number(statement, FIXED + 2 * i + 2, sample->rate[i].error);
    }
}

/* Step a query and read its first row. 1, 0 there is none, -1 and err; the statement is finalized.
 * rc: what came of preparing it. */
static int first_row(struct profiles *store, int rc, sqlite3_stmt *row,
                     struct profile_sample *sample, struct berth_error *err)
{
    int found;

    if (rc == SQLITE_OK)
        rc = sqlite3_step(row);
    if (rc == SQLITE_ROW)
        read_row(row, sample);
    found = rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : profiles_fail(store, rc, err);
    sqlite3_finalize(row);
    return found;
}

#define SAME_ROW                                                                                   \
    "WHERE key = ?1 AND shape = ?2 AND geometry = ?3 AND machine = ?4 AND co_run = ?5"             \
    " AND source = ?6"

/* The row that has the same identity. */
static int find_row(struct profiles *store, const struct profile_sample *like,
                    struct profile_sample *found, struct berth_error *err)
{
    sqlite3_stmt *row = NULL;
    char sql[SQL_MAX];
    int rc;

    select_sql(sql, SAME_ROW);
    rc = profiles_prepare(store, sql, NULL, &row);
    if (rc == SQLITE_OK)
        bind_identity(row, like);
    return first_row(store, rc, row, found, err);
}

/* Store the row, in place of what has the same identity. */
static int write_row(struct profiles *store, const struct profile_sample *sample,
                     struct berth_error *err)
{
    char sql[SQL_MAX];
    size_t used = (size_t)snprintf(sql, sizeof(sql), "INSERT OR REPLACE INTO sample (" COLUMNS);
    sqlite3_stmt *statement = NULL;
    int rc;

    used = append_rates(sql, sizeof(sql), used);
    used += (size_t)snprintf(sql + used, sizeof(sql) - used, ") VALUES (?1");
    for (int i = 2; i <= FIXED + 2 * PROFILE_RATES; i++)
        used += (size_t)snprintf(sql + used, sizeof(sql) - used, ",?%d", i);
    snprintf(sql + used, sizeof(sql) - used, ")");
    rc = profiles_prepare(store, sql, NULL, &statement);
    if (rc == SQLITE_OK) {
        bind_identity(statement, sample);
        bind_values(statement, sample);
    }
    return profiles_finish(store, rc, statement, err) < 0 ? -1 : 0;
}

/* ---- reading ---- */

int profiles_get_sample(struct profiles *store, const struct profile_query *query,
                        enum profile_rate rate, struct profile_sample *sample,
                        struct berth_error *err)
{
    char sql[SQL_MAX], rest[512];
    sqlite3_stmt *row = NULL;
    int rc = profiles_readable(store, err);

    if (rc != 1 || store->version < 3)
        return rc < 0 ? -1 : 0;
    snprintf(rest, sizeof(rest),
             "WHERE rowid = (SELECT rowid FROM sample WHERE key = ?1 AND %s IS NOT NULL"
             " AND (?4 = '' OR machine = ?4) AND measured_at >= ?6 ORDER BY co_run,"
             " shape = ?2 DESC, geometry = ?3 DESC, llc_bytes = ?5 DESC, measured_at DESC, source"
             " LIMIT 1)",
             profile_rate_name[rate]);
    select_sql(sql, rest);
    rc = profiles_prepare(store, sql, NULL, &row);
    if (rc == SQLITE_OK)
        rc = profiles_bind_query(row, query);
    return first_row(store, rc, row, sample, err);
}

int profiles_each_sample(struct profiles *store, const char *key,
                         int (*visit)(const struct profile_sample *, void *), void *arg,
                         struct berth_error *err)
{
    struct profile_sample sample;
    sqlite3_stmt *row = NULL;
    char sql[SQL_MAX];
    int rc = profiles_readable(store, err);

    if (rc != 1 || store->version < 3)
        return rc < 0 ? -1 : 0;
    select_sql(sql, "WHERE ?1 IS NULL OR key = ?1 ORDER BY measured_at DESC, key, shape, geometry,"
                    " machine, co_run, source");
    rc = profiles_prepare(store, sql, key, &row);
    while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        read_row(row, &sample);
        if (visit(&sample, arg) != 0)
            break;
    }
    rc = rc == SQLITE_DONE || rc == SQLITE_OK ? 0 : profiles_fail(store, rc, err);
    sqlite3_finalize(row);
    return rc;
}

/* ---- writing ---- */

struct batch {
    const struct profile_sample *sample;
    size_t n;
};

static int put_body(struct profiles *store, void *arg, struct berth_error *err)
{
    const struct batch *batch = arg;

    for (size_t i = 0; i < batch->n; i++) {
        const struct profile_sample *sample = &batch->sample[i];
        struct profile_sample known;
        int found = find_row(store, sample, &known, err);

        if (found == 1)
            profile_sample_merge(&known, sample);
        if (found < 0 || write_row(store, found ? &known : sample, err) < 0)
            return -1;
    }
    return 0;
}

int profiles_put_samples(struct profiles *store, const struct profile_sample *sample, size_t n,
                         struct berth_error *err)
{
    struct batch batch = {sample, n};

    for (size_t i = 0; i < n; i++)
        if (!(sample[i].windows > 0) || !sample[i].key[0])
            return berth_error_set(err, "%s: a sample without windows, or without a key",
                                   store->path);
    return n == 0 ? 0 : profiles_write(store, put_body, &batch, err);
}

int profiles_import_sample(struct profiles *store, const struct profile_sample *sample,
                           bool replace, struct berth_error *err)
{
    struct profile_sample known;
    int found = replace ? 0 : find_row(store, sample, &known, err);

    if (found < 0 || (found == 1 && known.measured_at >= sample->measured_at))
        return found < 0 ? -1 : 0;
    return write_row(store, sample, err) < 0 ? -1 : 1;
}

struct ageing {
    uint64_t days;
    int rows;
};

static int age_body(struct profiles *store, void *arg, struct berth_error *err)
{
    struct ageing *ageing = arg;
    sqlite3_stmt *statement = NULL;
    int rc = profiles_prepare(store,
                              "DELETE FROM sample WHERE measured_at < ?1 OR measured_at < (SELECT"
                              " measured_at FROM sample ORDER BY measured_at DESC LIMIT 1"
                              " OFFSET ?2 - 1)",
                              NULL, &statement);

    if (rc == SQLITE_OK && ageing->days)
        rc = sqlite3_bind_int64(statement, 1, time(NULL) - (int64_t)ageing->days * 86400);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_int(statement, 2, PROFILE_SAMPLES_MAX);
    ageing->rows = profiles_finish(store, rc, statement, err);
    return ageing->rows < 0 ? -1 : 0;
}

int profiles_age(struct profiles *store, uint64_t days, struct berth_error *err)
{
    struct ageing ageing = {.days = days};

    return profiles_write(store, age_body, &ageing, err) < 0 ? -1 : ageing.rows;
}
