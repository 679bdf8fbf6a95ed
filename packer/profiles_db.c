/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles_db - see profiles_db.h */
#include "profiles_db.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mono.h"

#define READ_WAIT_S 10e-3
#define WRITE_WAIT_S 30
#define POLL_US 500      /* at least; three times as long at most */
#define GIVE_WAY_US 2000 /* longer than a poll */

/* The SQL that brings the schema from version i to i + 1, for every version there ever was. */
static const char *const migration[PROFILES_SCHEMA] = {
    "CREATE TABLE profile ("
    " key TEXT NOT NULL, llc_bytes INTEGER NOT NULL, llc_ways INTEGER NOT NULL,"
    " line_bytes INTEGER NOT NULL, command TEXT NOT NULL, hits TEXT NOT NULL,"
    " misses REAL NOT NULL, accesses REAL NOT NULL, instructions INTEGER NOT NULL,"
    " refs INTEGER NOT NULL, truncated INTEGER NOT NULL, measured_at INTEGER NOT NULL,"
    " source TEXT NOT NULL, PRIMARY KEY (key, llc_bytes, llc_ways, line_bytes))",

    "ALTER TABLE profile ADD COLUMN instructions_per_s REAL;"
    "CREATE TABLE demand (key TEXT PRIMARY KEY, body TEXT NOT NULL)",

    "ALTER TABLE profile RENAME TO profile_2;"
    "CREATE TABLE profile ("
    " key TEXT NOT NULL, shape TEXT NOT NULL, geometry TEXT NOT NULL, llc_bytes INTEGER NOT NULL,"
    " llc_ways INTEGER NOT NULL, line_bytes INTEGER NOT NULL, machine TEXT NOT NULL,"
    " command TEXT NOT NULL, hits TEXT NOT NULL, misses REAL NOT NULL, misses_error REAL,"
    " accesses REAL NOT NULL, accesses_error REAL, instructions INTEGER NOT NULL,"
    " refs INTEGER NOT NULL, truncated INTEGER NOT NULL, measured_at INTEGER NOT NULL,"
    " source TEXT NOT NULL, instructions_per_s REAL,"
    " PRIMARY KEY (key, shape, geometry, llc_bytes, llc_ways, line_bytes));"
    "INSERT INTO profile SELECT key, '', '', llc_bytes, llc_ways, line_bytes, '', command, hits,"
    " misses, NULL, accesses, NULL, instructions, refs, truncated, measured_at, source,"
    " instructions_per_s FROM profile_2;"
    "DROP TABLE profile_2;"
    "CREATE TABLE sample ("
    " key TEXT NOT NULL, shape TEXT NOT NULL, geometry TEXT NOT NULL, machine TEXT NOT NULL,"
    " co_run INTEGER NOT NULL, source TEXT NOT NULL, command TEXT NOT NULL,"
    " llc_bytes INTEGER NOT NULL, line_bytes INTEGER NOT NULL, windows REAL NOT NULL,"
    " seconds REAL NOT NULL, instructions REAL NOT NULL, runs INTEGER NOT NULL,"
    " measured_at INTEGER NOT NULL, misses REAL, misses_error REAL,"
    " accesses REAL, accesses_error REAL, cycles REAL, cycles_error REAL,"
    " stalls REAL, stalls_error REAL, reads_remote REAL, reads_remote_error REAL,"
    " instructions_per_s REAL, instructions_per_s_error REAL,"
    " bytes_per_s REAL, bytes_per_s_error REAL, cpus REAL, cpus_error REAL,"
    " run_delay REAL, run_delay_error REAL, lock_wait REAL, lock_wait_error REAL,"
    " switches_per_s REAL, switches_per_s_error REAL,"
    " occupancy_bytes REAL, occupancy_bytes_error REAL, rss_bytes REAL, rss_bytes_error REAL,"
    " intensity REAL, intensity_error REAL,"
    " PRIMARY KEY (key, shape, geometry, machine, co_run, source));"
    "CREATE INDEX sample_newest ON sample (key, co_run, measured_at, machine)",
};

int profiles_fail(const struct profiles *store, int rc, struct berth_error *err)
{
    int os_error = store->db ? sqlite3_system_errno(store->db) : 0;

    if (rc == SQLITE_READONLY_ROLLBACK || rc == SQLITE_READONLY_RECOVERY)
        return berth_error_set(err,
                               "%s: a write to it was interrupted: it can be read again once "
                               "somebody has opened it who may write it",
                               store->path);
    if (rc == SQLITE_IOERR_WRITE) /* SQLite does not keep errno */
        return berth_error_set(err,
                               "%s: cannot be written (a quota, a limit or a broken disk): nothing "
                               "was stored",
                               store->path);
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return berth_error_set(err, "%s: busy: somebody else is writing", store->path);
    case SQLITE_FULL:
        return berth_error_set(err, "%s: no space left: nothing was stored", store->path);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return berth_error_set(err, "%s: damaged, or no profile store: move it away to begin anew",
                               store->path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return berth_error_set(err, "%s: no permission to write it", store->path);
    case SQLITE_CANTOPEN: /* the file, or its journal beside it */
        if (os_error)
            return berth_error_set(err, "%s, or a file beside it: %s", store->path,
                                   strerror(os_error));
        /* fallthrough */
    default:
        return berth_error_set(err, "%s: %s", store->path,
                               store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc));
    }
}

int profiles_prepare(struct profiles *store, const char *sql, const char *key,
                     sqlite3_stmt **statement)
{
    int rc = sqlite3_prepare_v2(store->db, sql, -1, statement, NULL);

    if (rc == SQLITE_OK && key)
        rc = sqlite3_bind_text(*statement, 1, key, -1, SQLITE_STATIC);
    return rc;
}

int profiles_finish(struct profiles *store, int rc, sqlite3_stmt *statement,
                    struct berth_error *err)
{
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    rc = rc == SQLITE_DONE ? sqlite3_changes(store->db) : profiles_fail(store, rc, err);
    sqlite3_finalize(statement);
    return rc;
}

void profiles_column_text(sqlite3_stmt *row, int column, char *text, size_t size)
{
    const unsigned char *value = sqlite3_column_text(row, column);

    snprintf(text, size, "%s", value ? (const char *)value : "");
}

double profiles_column_number(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? NAN
                                                           : sqlite3_column_double(row, column);
}

void profiles_bind_number(sqlite3_stmt *statement, int index, double value)
{
    if (isfinite(value))
        sqlite3_bind_double(statement, index, value);
    else
        sqlite3_bind_null(statement, index);
}

static int execute(struct profiles *store, const char *sql, struct berth_error *err)
{
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : profiles_fail(store, rc, err);
}

/* ---- the schema ---- */

/* The schema's version, 0 for a file without one. A store of the future or somebody else's database
 * is an error. One statement, which sees one state of the file: another process may just be
 * beginning it. */
static int read_version(struct profiles *store, int *version, struct berth_error *err)
{
    sqlite3_stmt *row = NULL;
    int rc = profiles_prepare(store,
                              "SELECT (SELECT user_version FROM pragma_user_version), count(*)"
                              " FROM sqlite_master",
                              NULL, &row);
    int tables = 0;

    if (rc == SQLITE_OK)
        rc = sqlite3_step(row);
    if (rc == SQLITE_ROW) {
        *version = sqlite3_column_int(row, 0);
        tables = sqlite3_column_int(row, 1);
    }
    sqlite3_finalize(row);
    if (rc != SQLITE_ROW)
        return profiles_fail(store, rc, err);
    if (*version > PROFILES_SCHEMA)
        return berth_error_set(err, "%s: schema %d of a newer berth; this one knows %d",
                               store->path, *version, PROFILES_SCHEMA);
    if (*version < 0 || (*version == 0 && tables > 0))
        return berth_error_set(err, "%s: a database, but no profile store", store->path);
    return 0;
}

/* Bring the schema to the present version. Inside a transaction. */
static int migrate(struct profiles *store, struct berth_error *err)
{
    char pragma[64];
    int version;

    if (read_version(store, &version, err) < 0)
        return -1;
    if (version == PROFILES_SCHEMA)
        return 0;
    for (; version < PROFILES_SCHEMA; version++)
        if (execute(store, migration[version], err) < 0)
            return -1;
    snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", PROFILES_SCHEMA);
    return execute(store, pragma, err);
}

/* ---- the file ---- */

void profiles_lookup_free(struct profiles_lookup *lookup)
{
    sqlite3_finalize(lookup->best);
    sqlite3_finalize(lookup->profile);
    sqlite3_finalize(lookup->sample);
    memset(lookup, 0, sizeof(*lookup));
}

static void disconnect(struct profiles *store)
{
    profiles_lookup_free(&store->lookup);
    sqlite3_close(store->db);
    store->db = NULL;
    store->version = 0;
}

/* Called while the file is locked: 0 gives up. SQLite's own handler polls ever less often, and so
 * may never meet the moment between two writes of somebody who writes a lot. */
static int wait_for_others(void *arg, int calls)
{
    struct profiles *store = arg;
    double now = mono_s();

    if (calls == 0)
        store->busy_since_s = now;
    if (now - store->busy_since_s > (store->writable ? WRITE_WAIT_S : READ_WAIT_S))
        return 0;
    usleep(POLL_US + (unsigned)(fmod(now, 1) * 1e9) % (2 * POLL_US));
    return 1;
}

/* A reader, too, is opened for writing where it may: the rest of a write that was interrupted has
 * to be rolled back by whoever comes next. It is told to write nothing else. */
static int connect_db(struct profiles *store, const struct stat *st, struct berth_error *err)
{
    int rc =
        sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

    if (rc == SQLITE_OK) {
        sqlite3_extended_result_codes(store->db, 1);
        sqlite3_busy_handler(store->db, wait_for_others, store);
        if (!store->writable)
            rc = sqlite3_exec(store->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    }
    if (rc != SQLITE_OK) {
        profiles_fail(store, rc, err);
        disconnect(store);
        return -1;
    }
    store->device = st->st_dev;
    store->inode = st->st_ino;
    return 0;
}

/* Have the file that the path names now open, if there is one. 0, with store->db NULL where there
 * is none; or -1 and err. */
static int refresh(struct profiles *store, struct berth_error *err)
{
    struct stat st;

    if (stat(store->path, &st) < 0) {
        disconnect(store);
        return errno == ENOENT ? 0 : berth_error_set(err, "%s: %s", store->path, strerror(errno));
    }
    if (store->db && (st.st_dev != store->device || st.st_ino != store->inode))
        disconnect(store);
    return store->db ? 0 : connect_db(store, &st, err);
}

/* An older schema is looked at again each time: a writer may bring it up to date. */
int profiles_readable(struct profiles *store, struct berth_error *err)
{
    int version;

    if (refresh(store, err) < 0)
        return -1;
    if (!store->db)
        return 0;
    if (store->version == PROFILES_SCHEMA)
        return 1;
    if (read_version(store, &version, err) < 0)
        return -1;
    if (version != store->version)
        profiles_lookup_free(&store->lookup);
    store->version = version;
    return version > 0;
}

/* Create the file and its folder where they are missing, readable by all whatever the umask. */
static int create_file(const char *path, struct berth_error *err)
{
    char folder[PATH_MAX];
    int fd;

    snprintf(folder, sizeof(folder), "%s", path);
    if (mkdir(dirname(folder), 0755) == 0)
        (void)!chmod(folder, 0755);
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno == EEXIST ? 0 : berth_error_set(err, "%s: %s", path, strerror(errno));
    (void)!fchmod(fd, 0644);
    close(fd);
    return 0;
}

int profiles_write(struct profiles *store,
                   int (*body)(struct profiles *store, void *arg, struct berth_error *err),
                   void *arg, struct berth_error *err)
{
    if (store->db && !sqlite3_get_autocommit(store->db))
        return body(store, arg, err) < 0 ? -1 : 0;
    if (create_file(store->path, err) < 0 || refresh(store, err) < 0 ||
        execute(store, "BEGIN IMMEDIATE", err) < 0)
        return -1;
    if (migrate(store, err) == 0 && body(store, arg, err) >= 0 &&
        execute(store, "COMMIT", err) == 0) {
        usleep(GIVE_WAY_US); /* whoever waits comes next, before another write of this process */
        return 0;
    }
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

static int nothing(struct profiles *store, void *arg, struct berth_error *err)
{
    (void)store;
    (void)arg;
    (void)err;
    return 0;
}

/* To write: have the schema that is wanted, and find out now whether writing is possible at all.
 * The journal is made beside the file. */
static int begin(struct profiles *store, struct berth_error *err)
{
    char folder[PATH_MAX];

    if (!store->writable)
        return profiles_readable(store, err);
    if (profiles_write(store, nothing, NULL, err) < 0)
        return -1;
    snprintf(folder, sizeof(folder), "%s", store->path);
    if (faccessat(AT_FDCWD, dirname(folder), W_OK, AT_EACCESS) < 0)
        return berth_error_set(err, "%s: its folder: %s", store->path, strerror(errno));
    return 0;
}

/* A store that nothing has been read of yet. NULL and err. */
static struct profiles *store_new(const char *path, bool writable, struct berth_error *err)
{
    struct profiles *store = NULL;

    if (path[0] == '\0' || strlen(path) >= PATH_MAX)
        berth_error_set(err, "profile store: '%.64s' is no path", path);
    else if (!(store = calloc(1, sizeof(*store))))
        berth_error_set(err, "%s", strerror(ENOMEM));
    if (!store)
        return NULL;
    snprintf(store->path, sizeof(store->path), "%s", path);
    store->writable = writable;
    return store;
}

int profiles_open(struct profiles **out, const char *path, bool writable, struct berth_error *err)
{
    struct profiles *store = store_new(path, writable, err);

    if (!store)
        return -1;
    if (begin(store, err) < 0) {
        profiles_close(store);
        return -1;
    }
    *out = store;
    return 0;
}

int profiles_attach(struct profiles **out, const char *path, struct berth_error *err)
{
    *out = store_new(path, false, err);
    return *out ? 0 : -1;
}

void profiles_close(struct profiles *store)
{
    if (!store)
        return;
    disconnect(store);
    free(store);
}
