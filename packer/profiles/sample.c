/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_sample - what berthd counts of steps: averaged over runs, stored and aged (profiles.h).
 */
#include <math.h>
#include <string.h>

#include "packer/profiles/db.h"
#include "packer/profiles/profiles.h"
#include "enum_table.h"

#define NEWEST_WEIGHS 0.2

const char *const TABLE(profile_rate_name, PROFILE_RATES) = {
    ROW(PROFILE_MISSES) = "misses",
    ROW(PROFILE_ACCESSES) = "accesses",
    ROW(PROFILE_CYCLES) = "cycles",
    ROW(PROFILE_STALLS) = "stalls",
    ROW(PROFILE_READS_REMOTE) = "reads_remote",
    ROW(PROFILE_INSTRUCTIONS_PER_S) = "instructions_per_s",
    ROW(PROFILE_BYTES_PER_S) = "bytes_per_s",
    ROW(PROFILE_CPUS) = "cpus",
    ROW(PROFILE_RUN_DELAY) = "run_delay",
    ROW(PROFILE_LOCK_WAIT) = "lock_wait",
    ROW(PROFILE_SWITCHES_PER_S) = "switches_per_s",
    ROW(PROFILE_OCCUPANCY_BYTES) = "occupancy_bytes",
    ROW(PROFILE_RSS_BYTES) = "rss_bytes",
    ROW(PROFILE_INTENSITY) = "intensity",
    ROW(PROFILE_SYSTEM) = "system",
    ROW(PROFILE_THREADS) = "threads",
};
TABLE_COMPLETE(profile_rate_name);

#define FIXED 15 /* columns before those of the rates */
#define COLUMNS                                                                                    \
    "key, shape, geometry, machine, co_run, source, command, llc_bytes, line_bytes, windows,"      \
    " seconds, instructions, runs, measured_at, uid"
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

void profiles_merge(struct profile_estimate *known, const struct profile_estimate *newer, double w)
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
        profiles_merge(&known->rate[i], &newer->rate[i], w);
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

static void read_row(const struct sql_statement *row, struct profile_sample *sample)
{
    profile_sample_init(sample);
    sql_copy(row, 0, sample->key, sizeof(sample->key));
    sql_copy(row, 1, sample->shape, sizeof(sample->shape));
    sql_copy(row, 2, sample->geometry, sizeof(sample->geometry));
    sql_copy(row, 3, sample->machine, sizeof(sample->machine));
    sample->co_run = sql_int(row, 4) != 0;
    sql_copy(row, 5, sample->source, sizeof(sample->source));
    sql_copy(row, 6, sample->command, sizeof(sample->command));
    sample->llc_bytes = (uint64_t)sql_int(row, 7);
    sample->line_bytes = (unsigned)sql_int(row, 8);
    sample->windows = sql_double(row, 9);
    sample->seconds = sql_double(row, 10);
    sample->instructions = sql_double(row, 11);
    sample->runs = (uint64_t)sql_int(row, 12);
    sample->measured_at = sql_int(row, 13);
    sample->uid = (uint32_t)sql_int(row, 14);
    for (size_t i = 0; i < PROFILE_RATES; i++) {
        sample->rate[i].mean = sql_double(row, FIXED + 2 * i);
        sample->rate[i].error = sql_double(row, FIXED + 2 * i + 1);
    }
}

/* What makes a row of a sample: the first six columns, and whose it is. */
static void bind_identity(struct sql_statement *statement, const struct profile_sample *sample)
{
    sql_bind_text(statement, 0, sample->key);
    sql_bind_text(statement, 1, sample->shape);
    sql_bind_text(statement, 2, sample->geometry);
    sql_bind_text(statement, 3, sample->machine);
    sql_bind_int(statement, 4, sample->co_run);
    sql_bind_text(statement, 5, sample->source);
    sql_bind_int(statement, FIXED - 1, sample->uid);
}

static void bind_values(struct sql_statement *statement, const struct profile_sample *sample)
{
    sql_bind_text(statement, 6, sample->command);
    sql_bind_int(statement, 7, (int64_t)sample->llc_bytes);
    sql_bind_int(statement, 8, sample->line_bytes);
    sql_bind_double(statement, 9, sample->windows);
    sql_bind_double(statement, 10, sample->seconds);
    sql_bind_double(statement, 11, sample->instructions);
    sql_bind_int(statement, 12, (int64_t)sample->runs);
    sql_bind_int(statement, 13, sample->measured_at);
    for (size_t i = 0; i < PROFILE_RATES; i++) {
        sql_bind_double(statement, FIXED + 2 * i, sample->rate[i].mean);
        sql_bind_double(statement, FIXED + 2 * i + 1, sample->rate[i].error);
    }
}

/* Step a query and read its first row; the statement, which may be NULL, is finished. Returns 1, 0
 * where there is none, -1 and err. */
static int first_row(struct sql_statement *row, struct profile_sample *sample,
                     struct berth_error *err)
{
    int found = row ? sql_step(row, err) : -1;

    if (found == 1)
        read_row(row, sample);
    sql_finish(row);
    return found;
}

#define SAME_ROW                                                                                   \
    "WHERE key = ?1 AND shape = ?2 AND geometry = ?3 AND machine = ?4 AND co_run = ?5"             \
    " AND source = ?6 AND uid = ?15"

/* The row that has the same identity. */
static int find_row(struct profiles *store, const struct profile_sample *like,
                    struct profile_sample *found, struct berth_error *err)
{
    struct sql_statement *row;
    char sql[SQL_MAX];

    select_sql(sql, SAME_ROW);
    row = profiles_prepare(store, sql, NULL, err);
    if (row)
        bind_identity(row, like);
    return first_row(row, found, err);
}

/* Store the row, in place of what has the same identity. */
static int write_row(struct profiles *store, const struct profile_sample *sample,
                     struct berth_error *err)
{
    char sql[SQL_MAX];
    size_t used = (size_t)snprintf(sql, sizeof(sql), "INSERT OR REPLACE INTO sample (" COLUMNS);
    struct sql_statement *statement;

    used = append_rates(sql, sizeof(sql), used);
    used += (size_t)snprintf(sql + used, sizeof(sql) - used, ") VALUES (?");
    for (int i = 1; i < FIXED + 2 * PROFILE_RATES; i++)
        used += (size_t)snprintf(sql + used, sizeof(sql) - used, ",?");
    snprintf(sql + used, sizeof(sql) - used, ")");
    statement = profiles_prepare(store, sql, NULL, err);
    if (!statement)
        return -1;
    bind_identity(statement, sample);
    bind_values(statement, sample);
    return profiles_run(statement, err) < 0 ? -1 : 0;
}

/* ---- reading ---- */

int profiles_get_sample(struct profiles *store, const struct profile_query *query,
                        enum profile_rate rate, struct profile_sample *sample,
                        struct berth_error *err)
{
    char sql[SQL_MAX], rest[512];
    struct sql_statement *row;
    int rc = profiles_readable(store, err);

    if (rc != 1)
        return rc;
    snprintf(rest, sizeof(rest),
             "WHERE rowid = (SELECT rowid FROM sample WHERE key = ?1 AND uid IN (?7, 0)"
             " AND %s IS NOT NULL AND (?4 = '' OR machine = ?4) AND measured_at >= ?6 ORDER BY"
             " co_run, shape = ?2 DESC, geometry = ?3 DESC, uid = ?7 DESC, llc_bytes = ?5 DESC,"
             " measured_at DESC, source LIMIT 1)",
             profile_rate_name[rate]);
    select_sql(sql, rest);
    row = profiles_prepare(store, sql, NULL, err);
    if (row)
        profiles_bind_query(row, query);
    return first_row(row, sample, err);
}

int profiles_each_sample_row(struct profiles *store, const struct profile_rows *rows,
                             int (*visit)(const struct profile_sample *, void *), void *arg,
                             struct berth_error *err)
{
    struct profile_sample sample;
    struct sql_statement *row;
    char sql[SQL_MAX];
    int rc = profiles_readable(store, err), stop = 0;

    if (rc != 1)
        return rc;
    select_sql(sql, "");
    row = profiles_prepare_rows(
        store, sql, "measured_at DESC, key, uid, shape, geometry, machine, co_run, source", rows,
        err);
    while (!stop && (rc = row ? sql_step(row, err) : -1) == 1) {
        read_row(row, &sample);
        stop = visit(&sample, arg);
        rc = 0;
    }
    sql_finish(row);
    return rc;
}

int profiles_each_sample(struct profiles *store, const char *key,
                         int (*visit)(const struct profile_sample *, void *), void *arg,
                         struct berth_error *err)
{
    return profiles_each_sample_row(store, &(struct profile_rows){.key = key, .most = -1}, visit,
                                    arg, err);
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
