/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_sqlite - a file, by SQLite.
 *
 * The journal is a write-ahead log as a rule, so that reports and the writer do not wait for each
 * other, and each commit is on the disk when it returns. The log's files stay when the last writer
 * goes: somebody who may only read the file could not make them. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/log.h"
#include "packer/sql/sql_way.h"

#define WAIT_MS 5000  /* for another writer */
#define POLL_US 500   /* the least pause between two attempts; the longest is three times that */
#define PATIENT_S 0.1 /* a writer that has waited for less makes one attempt in that time */

#define FILE_MODE 0640

struct state {
    sqlite3 *db;
    char path[PATH_MAX], what[32];
    double wait_s, busy_since_s, gave_up_s; /* the last two: CLOCK_MONOTONIC */
    dev_t device;                           /* of the file that was opened */
    ino_t inode;
};

static struct state *state_of(const struct sql *sql)
{
    return sql->state;
}

static sqlite3_stmt *handle(const struct sql_statement *statement)
{
    return statement->state;
}

/* What an error means, in words for people; NULL: SQLite's own are as good. The first that fits. */
static const char *explain(const struct state *state, int rc)
{
    static const struct {
        int code;
        const char *words;
    } known[] = {
        {SQLITE_READONLY_ROLLBACK, "a write to it was interrupted: it can be read again once "
                                   "somebody has opened it who may write it"},
        {SQLITE_READONLY_RECOVERY, "a write to it was interrupted: it can be read again once "
                                   "somebody has opened it who may write it"},
        {SQLITE_IOERR_WRITE, "cannot be written (a quota, a limit or a broken disk): nothing was "
                             "stored"}, /* SQLite does not keep errno */
        {SQLITE_BUSY, "busy: somebody else is writing"},
        {SQLITE_LOCKED, "busy: somebody else is writing"},
        {SQLITE_FULL, "no space left: nothing was stored"},
        {SQLITE_READONLY, "no permission to write it"},
        {SQLITE_PERM, "no permission to write it"},
    };
    int os_error = sqlite3_system_errno(state->db);

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].code == rc || known[i].code == (rc & 0xff))
            return known[i].words;
    return (rc & 0xff) == SQLITE_CANTOPEN && os_error ? strerror(os_error) : NULL;
}

/* Note and tell why. */
static int fail(struct sql *sql, int rc, struct berth_error *err)
{
    const struct state *state = state_of(sql);
    const char *words = explain(state, rc), *why = sqlite3_errmsg(state->db);

    sql->failure = SQL_FAILED;
    if ((rc & 0xff) == SQLITE_CONSTRAINT || (rc & 0xff) == SQLITE_TOOBIG ||
        (rc & 0xff) == SQLITE_MISMATCH)
        sql->failure = SQL_REFUSED;
    else if ((rc & 0xff) == SQLITE_ERROR && strstr(why, "no such table"))
        sql->failure = SQL_NO_TABLE;
    else if ((rc & 0xff) == SQLITE_ERROR && strstr(why, "no such column"))
        sql->failure = SQL_NO_COLUMN;
    if ((rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB)
        return berth_error_set(err, "%.300s: damaged, or no %s: move it away to begin anew",
                               state->path, state->what);
    return berth_error_set(err, "%.300s%s: %.180s", state->path,
                           (rc & 0xff) == SQLITE_CANTOPEN ? ", or a file beside it" : "",
                           words ? words : why);
}

static int run_statement(struct sql *sql, const char *text, struct berth_error *err)
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

/* Tells in the log that a file could not be given to the group that shall read it. */
static void tell_group(const char *name, gid_t group, int rc)
{
    if (rc < 0 && geteuid() == 0)
        log_warn("%s: cannot be given to group %u: %s%s", name, group, strerror(errno),
                 errno == EPERM ? " (CAP_CHOWN)" : "");
}

/* Sets group and mode of one's own database, and of the files that SQLite keeps beside it (which
 * get these from it when they are made). */
static void protect(const char *path, gid_t group)
{
    static const char *const suffix[] = {"", "-wal", "-shm"};
    char name[PATH_MAX + 8];
    struct stat st;

    for (size_t i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", path, suffix[i]);
        if (stat(name, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
            continue;
        if (group != (gid_t)-1 && st.st_gid != group)
            tell_group(name, group, chown(name, (uid_t)-1, group));
        if ((st.st_mode & 07777) != FILE_MODE)
            (void)!chmod(name, FILE_MODE);
    }
}

/* Have the file and its folder, whatever the umask, and know now whether writing is possible at
 * all: the journal is made beside the file. A file that is there is not opened: to close it would
 * undo the locks that SQLite has of it in this process. */
static int create(const char *path, struct berth_error *err)
{
    char folder[PATH_MAX];
    int fd;

    snprintf(folder, sizeof(folder), "%s", path);
    if (mkdir(dirname(folder), 0755) == 0)
        (void)!chmod(folder, 0755);
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, FILE_MODE);
    if (fd >= 0) {
        (void)!fchmod(fd, FILE_MODE);
        close(fd);
    } else if (errno != EEXIST || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0) {
        return berth_error_set(err, "%.400s: %s", path, strerror(errno));
    }
    if (faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) < 0)
        return berth_error_set(err, "%.400s: its folder: %s", path, strerror(errno));
    return 0;
}

/* Called while the file is locked: 0 gives up. Who can wait for a few milliseconds only has several
 * questions at a time as a rule, and waits for the first of them. SQLite's own handler polls ever
 * less often, and so may never meet the moment between two writes of somebody who writes a lot. */
static int wait_for_others(void *arg, int calls)
{
    struct state *state = arg;
    double now = clock_s();

    if (calls == 0)
        state->busy_since_s = now;
    if (now - state->busy_since_s > state->wait_s)
        state->gave_up_s = now;
    if (state->wait_s < PATIENT_S && state->gave_up_s > 0 && now - state->gave_up_s < PATIENT_S)
        return 0;
    if (now - state->busy_since_s > state->wait_s)
        return 0;
    usleep(POLL_US + (unsigned)(fmod(now, 1) * 1e9) % (2 * POLL_US));
    return 1;
}

/* Memory for pages of the file: berthd has several files open all the time, and looks for a row or
 * adds one. What a report reads once is kept by the kernel. */
#define CACHE "PRAGMA cache_size = -256;" /* KiB */

/* Runs what SQLite gives up at once where another process does the same just now, although it has
 * a handler that waits: several that begin a write-ahead log would wait for each other. */
static int run_patiently(struct sql *sql, const char *text, struct berth_error *err)
{
    struct state *state = state_of(sql);
    int calls = 0, rc;

    do
        rc = sqlite3_exec(state->db, text, NULL, NULL, NULL);
    while ((rc & 0xff) == SQLITE_BUSY && wait_for_others(state, calls++));
    return rc == SQLITE_OK ? 0 : fail(sql, rc, err);
}

static int configure(struct sql *sql, const struct sql_options *options, struct berth_error *err)
{
    sqlite3 *db = state_of(sql)->db;
    int yes = 1;

    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_handler(db, wait_for_others, sql->state);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL); /* "name" is never a text */
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    if (!options->writable)
        return run_statement(sql, CACHE "PRAGMA query_only = ON", err);
    if (options->rollback)
        return run_statement(sql, CACHE, err);
    sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &yes);
    return run_patiently(sql,
                         CACHE "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                               "PRAGMA journal_size_limit = 1048576",
                         err);
}

static void close_sqlite(struct sql *sql)
{
    sqlite3_close(state_of(sql)->db);
    free(sql->state);
}

static struct state *state_new(const struct sql_url *url, const struct sql_options *options)
{
    struct state *state = calloc(1, sizeof(*state));

    if (!state)
        return NULL;
    memcpy(state->path, url->path, sizeof(state->path));
    snprintf(state->what, sizeof(state->what), "%s",
             options->what ? options->what : "SQLite database");
    state->wait_s = (options->wait_ms ? options->wait_ms : WAIT_MS) / 1e3;
    return state;
}

/* A reader of a file with a rollback journal is opened for writing, too, where it may: the rest of
 * a write that was interrupted has to be undone by whoever comes next. */
static int open_db(struct sql *sql, const struct sql_options *options, struct berth_error *err)
{
    int flags =
        options->writable || options->rollback ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    struct state *state = state_of(sql);
    struct stat st = {.st_ino = 0};
    int rc;

    stat(state->path, &st); /* before: who replaces the file meanwhile is noticed */
    state->device = st.st_dev;
    state->inode = st.st_ino;
    rc = sqlite3_open_v2(state->path, &state->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return fail(sql, rc, err);
    return configure(sql, options, err);
}

static int open_sqlite(struct sql *sql, const struct sql_url *url,
                       const struct sql_options *options, struct berth_error *err)
{
    if (options->writable && create(url->path, err) < 0)
        return -1;
    if (!options->writable && access(url->path, R_OK) < 0)
        return berth_error_set(err, "%.400s: %s", url->path, strerror(errno));
    if (options->writable || options->rollback)
        protect(url->path, group_id(options->group));
    sql->state = state_new(url, options);
    if (!sql->state)
        return berth_no_memory(err);
    if (open_db(sql, options, err) == 0)
        return 0;
    close_sqlite(sql);
    return -1;
}

static bool is_current(const struct sql *sql)
{
    const struct state *state = state_of(sql);
    struct stat st;

    return stat(state->path, &st) == 0 && st.st_dev == state->device && st.st_ino == state->inode;
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

static int64_t changed(const struct sql_statement *statement)
{
    return sqlite3_changes(state_of(statement->sql)->db);
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
    return run_statement(sql, "BEGIN IMMEDIATE", err);
}

static int unlock(struct sql *sql, const char *name, bool keep, struct berth_error *err)
{
    (void)name;
    if (keep && run_statement(sql, "COMMIT", err) == 0)
        return 0;
    run_statement(sql, "ROLLBACK", NULL);
    return keep ? -1 : 0;
}

const struct sql_way sql_sqlite = {
    .name = "SQLite",
    .words = {"BEGIN IMMEDIATE", "", "", " OR IGNORE", " ON CONFLICT DO NOTHING"},
    .open = open_sqlite,
    .run = run_statement,
    .prepare = prepare,
    .step = step,
    .changed = changed,
    .reset = reset,
    .finish = finish,
    .close = close_sqlite,
    .is_current = is_current,
    .lock = lock,
    .unlock = unlock,
};
