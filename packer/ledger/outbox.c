/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_outbox - see ledger/outbox.h */
#include "packer/ledger/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/ledger/line.h"
#include "packer/sql/fields.h"

#define FILE_NAME "outbox.db"
#define SCHEMA_VERSION 2

struct outbox {
    struct sql *sql;
    struct sql_statement *put, *put_run;
};

static const sql_migration migration[SCHEMA_VERSION] = {
    {
        "CREATE TABLE outbox (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, lines TEXT NOT NULL)",
        "CREATE TABLE ledger_run (cluster TEXT NOT NULL, job INTEGER NOT NULL,"
        " restart INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (cluster, job, restart))",
    },
    {
        /* Their cluster was what the step's environment said, and whose they were is not there. */
        "DELETE FROM ledger_run",
        "ALTER TABLE ledger_run ADD COLUMN%s uid INTEGER NOT NULL DEFAULT 0",
    },
};

#define RUN_FIELD(member, need) JSON_FIELD(struct ledger_run, #member, member, need)

static const struct json_field run_fields[] = {
    RUN_FIELD(cluster, REQUIRED), RUN_FIELD(job, REQUIRED), RUN_FIELD(restart, REQUIRED),
    RUN_FIELD(at, REQUIRED),      RUN_FIELD(uid, REQUIRED), JSON_END,
};

/* ---- the file ---- */

static void path_of(const char *folder, const char *name, char path[PATH_MAX + 32])
{
    snprintf(path, PATH_MAX + 32, "%s/%s", folder, name);
}

static int open_file(struct sql **out, const char *folder, bool writable, struct berth_error *err)
{
    const struct sql_options options = {.writable = writable, .what = "ledger's outbox"};
    char path[PATH_MAX + 32];

    path_of(folder, FILE_NAME, path);
    return sql_open_file(out, path, &options, err);
}

int outbox_open(struct outbox **out, const char *folder, struct berth_error *err)
{
    struct outbox *outbox = calloc(1, sizeof(*outbox));

    if (!outbox)
        return berth_no_memory(err);
    if (open_file(&outbox->sql, folder, true, err) == 0 &&
        sql_migrate(outbox->sql, "outbox", migration, SCHEMA_VERSION, err) == 0 &&
        sql_prepare(outbox->sql, "INSERT INTO outbox (n, lines) VALUES (?, ?)", &outbox->put,
                    err) == 0 &&
        sql_prepare(outbox->sql,
                    "INSERT INTO ledger_run (cluster, job, restart, at, uid) VALUES (?, ?, ?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET at = excluded.at, uid = excluded.uid",
                    &outbox->put_run, err) == 0) {
        *out = outbox;
        return 0;
    }
    outbox_close(outbox);
    return -1;
}

void outbox_close(struct outbox *outbox)
{
    if (!outbox)
        return;
    sql_finish(outbox->put);
    sql_finish(outbox->put_run);
    sql_close(outbox->sql);
    free(outbox);
}

bool outbox_is_current(const struct outbox *outbox)
{
    return sql_is_current(outbox->sql);
}

int outbox_count(const char *folder, size_t *n, struct berth_error *err)
{
    struct sql_statement *row = NULL;
    char path[PATH_MAX + 32];
    struct sql *sql;
    int rc = -1;

    *n = 0;
    path_of(folder, FILE_NAME, path);
    if (access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (open_file(&sql, folder, false, err) < 0)
        return -1;
    if (sql_prepare(sql, "SELECT sum(n) FROM outbox", &row, err) == 0)
        rc = sql_step(row, err);
    else if (sql_no_table(sql)) /* it was just begun */
        rc = 0;
    if (rc == 1)
        *n = (size_t)sql_int(row, 0);
    sql_finish(row);
    sql_close(sql);
    return rc < 0 ? -1 : 0;
}

/* ---- lines ---- */

/* Runs a statement that has no rows. */
static int execute(struct sql_statement *statement, struct berth_error *err)
{
    int rc = sql_step(statement, err);

    sql_reset(statement);
    return rc < 0 ? -1 : 0;
}

/* Reads the run that a line is about. Returns whether it says which one, by Slurm's own word. */
static bool read_run(const char *line, size_t length, struct ledger_run *run)
{
    struct ledger_identity identity;
    struct ledger_record record;

    if (ledger_line_identifies(line, length)) {
        if (ledger_identity_decode(line, length, &identity, NULL) < 0)
            return false;
        *run = (struct ledger_run){.job = identity.is.job,
                                   .restart = identity.is.restart,
                                   .uid = identity.is.uid,
                                   .at = identity.to};
        memcpy(run->cluster, identity.is.cluster, sizeof(run->cluster));
        return run->cluster[0] != '\0';
    }
    if (ledger_line_decode(line, length, &record, NULL) < 0 || !ledger_is_known(&record))
        return false;
    *run = (struct ledger_run){
        .job = record.id.job, .restart = record.restart, .uid = record.uid, .at = record.start};
    memcpy(run->cluster, record.cluster, sizeof(run->cluster));
    return run->cluster[0] != '\0';
}

/* Puts the run of a line. */
static int put_run(struct outbox *outbox, const char *line, size_t length, struct berth_error *err)
{
    struct ledger_run run;

    if (!read_run(line, length, &run))
        return 0;
    sql_bind_fields(outbox->put_run, 0, run_fields, &run);
    return execute(outbox->put_run, err);
}

static int put_runs(struct outbox *outbox, const char *text, struct berth_error *err)
{
    const char *newline;
    int rc = 0;

    for (; rc == 0 && (newline = strchr(text, '\n')); text = newline + 1)
        rc = put_run(outbox, text, (size_t)(newline - text), err);
    return rc;
}

int outbox_put(struct outbox *outbox, const char *text, size_t n, bool runs,
               struct berth_error *err)
{
    if (sql_begin(outbox->sql, err) < 0)
        return -1;
    sql_bind_int(outbox->put, 0, (int64_t)n);
    sql_bind_text(outbox->put, 1, text);
    if (execute(outbox->put, err) == 0 && (!runs || put_runs(outbox, text, err) == 0) &&
        sql_commit(outbox->sql, err) == 0)
        return 0;
    sql_rollback(outbox->sql);
    return -1;
}

int outbox_read(struct outbox *outbox, int64_t *last, int (*fn)(const char *text, void *arg),
                void *arg, struct berth_error *err)
{
    struct sql_statement *row;
    int rc, called = 0, enough = 0;

    if (sql_prepare(outbox->sql, "SELECT id, lines FROM outbox WHERE id > ? ORDER BY id", &row,
                    err) < 0)
        return -1;
    sql_bind_int(row, 0, *last);
    while (!enough && (rc = sql_step(row, err)) == 1) {
        *last = sql_int(row, 0);
        enough = fn(sql_text(row, 1), arg);
        called = 1;
    }
    sql_finish(row);
    return rc < 0 ? -1 : called;
}

/* Is a line of the job among these? Quotes within a text have a backslash before them. */
static bool lines_have_job(const char *lines, uint32_t job)
{
    char member[32];
    size_t length = (size_t)snprintf(member, sizeof(member), "\"job\":%u", job);

    for (; (lines = strstr(lines, member)); lines += length)
        if (!strchr("0123456789", lines[length]) || !lines[length])
            return true;
    return false;
}

struct job_search {
    uint32_t job;
    bool found;
};

static int search_lines(const char *lines, void *arg)
{
    struct job_search *search = arg;

    search->found = lines_have_job(lines, search->job);
    return search->found;
}

int outbox_has_job(struct outbox *outbox, uint32_t job, struct berth_error *err)
{
    struct job_search search = {job, false};
    int64_t last = 0;

    return outbox_read(outbox, &last, search_lines, &search, err) < 0 ? -1 : search.found;
}

int outbox_drop(struct outbox *outbox, int64_t after, int64_t last, struct berth_error *err)
{
    struct sql_statement *drop;
    int rc;

    if (sql_prepare(outbox->sql, "DELETE FROM outbox WHERE id > ? AND id <= ?", &drop, err) < 0)
        return -1;
    sql_bind_int(drop, 0, after);
    sql_bind_int(drop, 1, last);
    rc = sql_step(drop, err);
    sql_finish(drop);
    return rc;
}

int outbox_refuse(const char *folder, const char *line, size_t length, struct berth_error *err)
{
    char path[PATH_MAX + 32];
    int fd, rc = -1;

    path_of(folder, "refused.jsonl", path);
    fd = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    while (length && line[length - 1] == '\n')
        length--;
    if (fd >= 0 && file_write_fd(fd, line, length) == length && file_write_fd(fd, "\n", 1) == 1)
        rc = fdatasync(fd);
    if (rc < 0)
        berth_error_set(err, "%.400s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return rc;
}

/* ---- runs ---- */

int outbox_each_run(struct outbox *outbox, void (*fn)(const struct ledger_run *run, void *arg),
                    void *arg, struct berth_error *err)
{
    struct sql_statement *row;
    int rc;

    if (sql_prepare(outbox->sql, "SELECT cluster, job, restart, at, uid FROM ledger_run", &row,
                    err) < 0)
        return -1;
    while ((rc = sql_step(row, err)) == 1) {
        struct ledger_run run = {.cluster = ""};

        sql_take_fields(row, 0, run_fields, &run);
        fn(&run, arg);
    }
    sql_finish(row);
    return rc;
}

int outbox_drop_run(struct outbox *outbox, const struct ledger_run *run, struct berth_error *err)
{
    struct ledger_run settled = *run;
    struct sql_statement *drop;
    int rc;

    if (sql_prepare(outbox->sql,
                    "DELETE FROM ledger_run WHERE cluster = ?1 AND job = ?2 AND restart = ?3"
                    " AND at <= ?4",
                    &drop, err) < 0)
        return -1;
    settled.at += LEDGER_CLOCKS_DIFFER_S; /* run->at is so much before its last step here ended */
    sql_bind_fields(drop, 0, run_fields, &settled);
    rc = sql_step(drop, err);
    sql_finish(drop);
    return rc;
}
