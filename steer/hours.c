/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hours - see steer/hours.h */
#include "steer/hours.h"

#include <stdio.h>
#include <sys/random.h>

#include "packer/sql/sql.h"

static int64_t hour_of(int64_t now)
{
    return now - now % HOURS_S;
}

/* Says whether this hour is one of so many in a hundred. Who cannot have chance steers. */
static bool is_left(unsigned percent)
{
    uint32_t chance;

    return getrandom(&chance, sizeof(chance), 0) == sizeof(chance) &&
           chance / (UINT32_MAX + 1.0) * 100 < percent;
}

static int run_with(struct sql *sql, const char *text, const int64_t *value, size_t n,
                    struct berth_error *err)
{
    struct sql_statement *statement;
    int rc;

    if (sql_prepare(sql, text, &statement, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        sql_bind_int(statement, i, value[i]);
    rc = sql_step(statement, err);
    sql_finish(statement);
    return rc < 0 ? -1 : 0;
}

/* A row that is there stays as it is. */
static int write_row(struct sql *sql, unsigned percent, int64_t now, struct berth_error *err)
{
    const int64_t value[] = {hour_of(now), now, now, !is_left(percent)};
    char text[256], rest[64];

    snprintf(rest, sizeof(rest), sql_words(sql)->or_nothing, "hour");
    snprintf(text, sizeof(text),
             "INSERT INTO steer_hour (hour, begins, ends, steered) VALUES (?, ?, ?, ?)%s", rest);
    return run_with(sql, text, value, sizeof(value) / sizeof(value[0]), err);
}

static int read_row(struct sql *sql, int64_t now, struct steer_hour *hour, struct berth_error *err)
{
    struct sql_statement *row;
    int rc;

    if (sql_prepare(sql, "SELECT steered FROM steer_hour WHERE hour = ?", &row, err) < 0)
        return -1;
    sql_bind_int(row, 0, hour_of(now));
    rc = sql_step(row, err);
    if (rc > 0)
        *hour = (struct steer_hour){.steered = sql_int(row, 0) != 0, .kept = true};
    sql_finish(row);
    return rc < 0 ? -1 : 0;
}

static int open_written(struct sql **sql, const char *url, const char *defaults,
                        struct berth_error *err)
{
    const struct sql_options options = {
        .defaults = defaults, .group = "", .what = "ledger", .writable = true};

    return sql_open(sql, url, &options, err);
}

int hours_draw(const char *url, const char *defaults, unsigned percent, int64_t now,
               struct steer_hour *hour, struct berth_error *err)
{
    struct sql *sql;
    int rc;

    *hour = (struct steer_hour){.steered = true};
    if (percent == 0)
        return 0;
    if (open_written(&sql, url, defaults, err) < 0)
        return berth_error_before(err, "the ledger: ");
    rc = write_row(sql, percent, now, err);
    if (rc == 0)
        rc = read_row(sql, now, hour, err);
    else if (sql_no_table(sql))
        berth_error_set(err, "no berthd of this version has written to it yet");
    sql_close(sql);
    return rc < 0 ? berth_error_before(err, "the ledger, table steer_hour: ") : 0;
}

int hours_note(const char *url, const char *defaults, int64_t now, int64_t ends,
               struct berth_error *err)
{
    const int64_t over = hour_of(now) + HOURS_S,
                  value[] = {ends < over ? ends : over, hour_of(now)};
    struct sql *sql;
    int rc;

    if (open_written(&sql, url, defaults, err) < 0)
        return berth_error_before(err, "the ledger: ");
    rc = run_with(sql, "UPDATE steer_hour SET ends = ? WHERE hour = ?", value, 2, err);
    sql_close(sql);
    return rc < 0 ? berth_error_before(err, "the ledger, table steer_hour: ") : 0;
}
