/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_sqlite - a file, by SQLite.
 *
 * The journal is a write-ahead log, so that reports and the writer do not wait for each other, and
 * each commit is on the disk when it returns. The log's files stay when the last writer goes:
 * somebody who may only read the file could not make them. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sql_way.h"

#define WAIT_MS 5000 /* for another writer */
#define FILE_MODE 0640

struct state {
    sqlite3 *db;
    char path[PATH_MAX];
};

static struct state *state_of(const struct sql *sql)
{
    return sql->state;
}

static sqlite3_stmt *handle(const struct sql_statement *statement)
{
    return statement->state;
}

/* Note and tell why. */
static int fail(struct sql *sql, int rc, struct berth_error *err)
{
    const struct state *state = state_of(sql);
    const char *why = sqlite3_errmsg(state->db);

    sql->failure = SQL_FAILED;
    if ((rc & 0xff) == SQLITE_CONSTRAINT || (rc & 0xff) == SQLITE_TOOBIG ||
        (rc & 0xff) == SQLITE_MISMATCH)
        sql->failure = SQL_REFUSED;
    else if ((rc & 0xff) == SQLITE_ERROR && strstr(why, "no such table"))
        sql->failure = SQL_NO_TABLE;
    if ((rc & 0xff) == SQLITE_CANTOPEN && sqlite3_system_errno(state->db))
        why = strerror(sqlite3_system_errno(state->db));
    else if ((rc & 0xff) == SQLITE_NOTADB)
        why = "damaged, or no SQLite database";
    return berth_error_set(err, "%.300s: %.180s", state->path, why);
}

static int run(struct sql *sql, const char *text, struct berth_error *err)
{
    int rc = sqlite3_exec(state_of(sql)->db, text, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : fail(sql, rc, err);
}

/* ---- the file ---- */

/* The group that may read; -1: no such group, or none wanted. */
static gid_t group_id(const char *name)
{
    char memory[4096];
    struct group group, *found = NULL;

    if (!name || !name[0] || getgrnam_r(name, &group, memory, sizeof(memory), &found) != 0)
        return (gid_t)-1;
    return found ? found->gr_gid : (gid_t)-1;
}

/* Owner and mode, of the database and of the files that SQLite keeps beside it (which get these
 * from it when they are made). Who may not change them leaves them. */
static void protect(const char *path, gid_t group)
{
    static const char *const suffix[] = {"", "-wal", "-shm"};
    char name[PATH_MAX + 8];
    struct stat st;

    for (size_t i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", path, suffix[i]);
        if (stat(name, &st) < 0)
            continue;
        if (group != (gid_t)-1 && st.st_gid != group)
            (void)!chown(name, (uid_t)-1, group);
        if ((st.st_mode & 07777) != FILE_MODE)
            (void)!chmod(name, FILE_MODE);
    }
}

/* Have the file and its folder, whatever the umask. */
static int create(const char *path, struct berth_error *err)
{
    char folder[PATH_MAX];
    int fd;

    snprintf(folder, sizeof(folder), "%s", path);
    if (mkdir(dirname(folder), 0755) == 0)
        (void)!chmod(folder, 0755);
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, FILE_MODE);
    if (fd < 0)
        return berth_error_set(err, "%.400s: %s", path, strerror(errno));
    close(fd);
    return 0;
}

static int configure(struct sql *sql, bool writable, struct berth_error *err)
{
    sqlite3 *db = state_of(sql)->db;
    int yes = 1;

    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, WAIT_MS);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL); /* "name" is never a text */
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    if (!writable)
        return run(sql, "PRAGMA query_only = ON", err);
    sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &yes);
    return run(sql,
               "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
               "PRAGMA journal_size_limit = 1048576",
               err);
}

static void close_sqlite(struct sql *sql)
{
    sqlite3_close(state_of(sql)->db);
    free(sql->state);
}

static int open_sqlite(struct sql *sql, const struct sql_url *url,
                       const struct sql_options *options, struct berth_error *err)
{
    int flags = options->writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, rc;
    struct state *state;

    if (options->writable && create(url->path, err) < 0)
        return -1;
    if (!options->writable && access(url->path, R_OK) < 0)
        return berth_error_set(err, "%.400s: %s", url->path, strerror(errno));
    state = calloc(1, sizeof(*state));
    if (!state)
        return berth_error_set(err, "out of memory");
    sql->state = state;
    memcpy(state->path, url->path, sizeof(state->path));
    if (options->writable)
        protect(url->path, group_id(options->group));
    rc = sqlite3_open_v2(url->path, &state->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK ? configure(sql, options->writable, err) < 0 : fail(sql, rc, err) < 0) {
        close_sqlite(sql);
        return -1;
    }
    return 0;
}

/* ---- statements ---- */

static int prepare(struct sql_statement *statement, const char *text, struct berth_error *err)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(state_of(statement->sql)->db, text, -1, &stmt, NULL);

    if (rc != SQLITE_OK)
        return fail(statement->sql, rc, err);
    statement->state = stmt;
    statement->params = (size_t)sqlite3_bind_parameter_count(stmt);
    statement->columns = (size_t)sqlite3_column_count(stmt);
    return 0;
}

static int bind_one(sqlite3_stmt *stmt, int i, const struct sql_value *value)
{
    switch (value->type) {
    case SQL_INT:
        return sqlite3_bind_int64(stmt, i, value->integer);
    case SQL_DOUBLE:
        return sqlite3_bind_double(stmt, i, value->number);
    case SQL_TEXT:
        return sqlite3_bind_text(stmt, i, value->text, -1, SQLITE_STATIC);
    default:
        return sqlite3_bind_null(stmt, i);
    }
}

static void take_column(sqlite3_stmt *stmt, int i, struct sql_value *value)
{
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER:
        *value = (struct sql_value){.type = SQL_INT, .integer = sqlite3_column_int64(stmt, i)};
        break;
    case SQLITE_FLOAT:
        *value = (struct sql_value){.type = SQL_DOUBLE, .number = sqlite3_column_double(stmt, i)};
        break;
    case SQLITE_NULL:
        *value = (struct sql_value){.type = SQL_NULL};
        break;
    default:
        *value = (struct sql_value){.type = SQL_TEXT,
                                    .text = (const char *)sqlite3_column_text(stmt, i)};
        if (!value->text)
            value->type = SQL_NULL;
    }
}

static int step(struct sql_statement *statement, struct berth_error *err)
{
    sqlite3_stmt *stmt = handle(statement);
    int rc = SQLITE_OK;

    if (!statement->running)
        sqlite3_reset(stmt);
    for (size_t i = 0; !statement->running && i < statement->params && rc == SQLITE_OK; i++)
        rc = bind_one(stmt, (int)i + 1, &statement->param[i]);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_DONE) {
        sqlite3_reset(stmt); /* lets go of its lock */
        return 0;
    }
    if (rc != SQLITE_ROW) {
        fail(statement->sql, rc, err);
        sqlite3_reset(stmt);
        return -1;
    }
    for (size_t i = 0; i < statement->columns; i++)
        take_column(stmt, (int)i, &statement->column[i]);
    return 1;
}

static void reset(struct sql_statement *statement)
{
    sqlite3_reset(handle(statement));
}

static void finish(struct sql_statement *statement)
{
    sqlite3_finalize(handle(statement));
}

/* ---- migrations ---- */

static int lock(struct sql *sql, const char *name, struct berth_error *err)
{
    (void)name;
    return run(sql, "BEGIN IMMEDIATE", err);
}

static int unlock(struct sql *sql, const char *name, bool keep, struct berth_error *err)
{
    (void)name;
    if (keep && run(sql, "COMMIT", err) == 0)
        return 0;
    run(sql, "ROLLBACK", NULL);
    return keep ? -1 : 0;
}

const struct sql_way sql_sqlite = {
    .name = "SQLite",
    .words = {"BEGIN IMMEDIATE", "", " ON CONFLICT DO NOTHING"},
    .open = open_sqlite,
    .run = run,
    .prepare = prepare,
    .step = step,
    .reset = reset,
    .finish = finish,
    .close = close_sqlite,
    .lock = lock,
    .unlock = unlock,
};
