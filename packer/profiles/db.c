/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles_db - see profiles/db.h */
#include "packer/profiles/db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define READ_WAIT_MS 10
#define WRITE_WAIT_MS 30000
#define GIVE_WAY_US 2000 /* longer than SQLite's waiters take to look again */

#define SCHEMA "profile"
#define SCHEMA_VERSION 6

/* What is taken over into schema 3. Only root could write profiles and demands; samples and pairs
 * were counted of anybody's runs. A shape of before had the words of a command line in it, and a
 * command its arguments: they are left behind, and the rows stay apart. */
#define SHAPE "CASE WHEN shape GLOB '*[A-Za-z]*' THEN 'before 3, ' || rowid ELSE shape END"
#define COMMAND "substr(command, 1, instr(command || ' ', ' ') - 1)"

/* Columns; from schema 3 on a user stands before them. */
#define PROFILE                                                                                    \
    " key TEXT NOT NULL, shape TEXT NOT NULL, geometry TEXT NOT NULL,"                             \
    " llc_bytes INTEGER NOT NULL, llc_ways INTEGER NOT NULL, line_bytes INTEGER NOT NULL,"         \
    " machine TEXT NOT NULL, command TEXT NOT NULL, hits TEXT NOT NULL, misses REAL NOT NULL,"     \
    " misses_error REAL, accesses REAL NOT NULL, accesses_error REAL,"                             \
    " instructions INTEGER NOT NULL, refs INTEGER NOT NULL, truncated INTEGER NOT NULL,"           \
    " measured_at INTEGER NOT NULL, source TEXT NOT NULL, instructions_per_s REAL,"
#define SAMPLE                                                                                     \
    " key TEXT NOT NULL, shape TEXT NOT NULL, geometry TEXT NOT NULL, machine TEXT NOT NULL,"      \
    " co_run INTEGER NOT NULL, source TEXT NOT NULL, command TEXT NOT NULL,"                       \
    " llc_bytes INTEGER NOT NULL, line_bytes INTEGER NOT NULL, windows REAL NOT NULL,"             \
    " seconds REAL NOT NULL, instructions REAL NOT NULL, runs INTEGER NOT NULL,"                   \
    " measured_at INTEGER NOT NULL, misses REAL, misses_error REAL,"                               \
    " accesses REAL, accesses_error REAL, cycles REAL, cycles_error REAL,"                         \
    " stalls REAL, stalls_error REAL, reads_remote REAL, reads_remote_error REAL,"                 \
    " instructions_per_s REAL, instructions_per_s_error REAL,"                                     \
    " bytes_per_s REAL, bytes_per_s_error REAL, cpus REAL, cpus_error REAL,"                       \
    " run_delay REAL, run_delay_error REAL, lock_wait REAL, lock_wait_error REAL,"                 \
    " switches_per_s REAL, switches_per_s_error REAL,"                                             \
    " occupancy_bytes REAL, occupancy_bytes_error REAL, rss_bytes REAL, rss_bytes_error REAL,"     \
    " intensity REAL, intensity_error REAL,"

static const sql_migration migration[SCHEMA_VERSION] = {
    {
        "CREATE TABLE profile (" PROFILE
        " PRIMARY KEY (key, shape, geometry, llc_bytes, llc_ways, line_bytes))",

        "CREATE TABLE demand (key TEXT PRIMARY KEY, body TEXT NOT NULL)",

        "CREATE TABLE sample (" SAMPLE
        " PRIMARY KEY (key, shape, geometry, machine, co_run, source))",

        "CREATE INDEX sample_newest ON sample (key, co_run, measured_at, machine)",
    },
    {
        /* Pairs name programs and types of machines by numbers: their keys are long. */
        "CREATE TABLE pair_program (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE)",

        "CREATE TABLE pair_machine (id INTEGER PRIMARY KEY, machine TEXT NOT NULL UNIQUE)",

        "CREATE TABLE pair ("
        " program INTEGER NOT NULL, machine INTEGER NOT NULL, cores INTEGER NOT NULL,"
        " beside TEXT NOT NULL, slowdown REAL NOT NULL, error REAL NOT NULL,"
        " windows REAL NOT NULL, seconds REAL NOT NULL, runs INTEGER NOT NULL,"
        " measured_at INTEGER NOT NULL,"
        " PRIMARY KEY (program, machine, cores, beside)) WITHOUT ROWID",

        "CREATE INDEX pair_newest ON pair (measured_at)",
    },
    {
        /* Rows have a user. */
        "ALTER TABLE profile RENAME TO profile_2",
        "CREATE TABLE profile (uid INTEGER NOT NULL," PROFILE
        " PRIMARY KEY (key, uid, shape, geometry, llc_bytes, llc_ways, line_bytes))",
        "UPDATE profile_2 SET shape = " SHAPE ", command = " COMMAND ";"
        "INSERT INTO profile SELECT 0, * FROM profile_2; DROP TABLE profile_2",
        "CREATE INDEX profile_owner ON profile (uid, measured_at)",

        "ALTER TABLE demand RENAME TO demand_2",
        "CREATE TABLE demand (uid INTEGER NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,"
        " PRIMARY KEY (key, uid))",
        "INSERT INTO demand SELECT 0, key, body FROM demand_2; DROP TABLE demand_2",

        "ALTER TABLE sample RENAME TO sample_2",
        "CREATE TABLE sample (uid INTEGER NOT NULL," SAMPLE
        " PRIMARY KEY (key, uid, shape, geometry, machine, co_run, source))",
        "UPDATE sample_2 SET shape = " SHAPE ";"
        "INSERT INTO sample SELECT 4294967294, * FROM sample_2; DROP TABLE sample_2",
        "CREATE INDEX sample_newest ON sample (key, uid, co_run, measured_at, machine)",
        "CREATE INDEX sample_owner ON sample (uid, measured_at)",

        "ALTER TABLE pair_program RENAME TO pair_program_2",
        "CREATE TABLE pair_program (id INTEGER PRIMARY KEY, uid INTEGER NOT NULL,"
        " key TEXT NOT NULL, UNIQUE (key, uid));"
        "INSERT INTO pair_program SELECT id, 4294967294, key FROM pair_program_2;"
        "DROP TABLE pair_program_2; CREATE INDEX pair_program_owner ON pair_program (uid)",
    },
    {
        "CREATE TABLE threads ("
        " key TEXT NOT NULL, uid INTEGER NOT NULL, shape TEXT NOT NULL, machine TEXT NOT NULL,"
        " cores INTEGER NOT NULL, threads INTEGER NOT NULL, environment INTEGER NOT NULL,"
        " measured_at INTEGER NOT NULL, PRIMARY KEY (key, uid, shape, machine, cores))",
        "CREATE INDEX threads_owner ON threads (uid, measured_at)",
    },
    {
        "ALTER TABLE sample ADD COLUMN%s system REAL",
        "ALTER TABLE sample ADD COLUMN%s system_error REAL",
        "ALTER TABLE sample ADD COLUMN%s threads REAL",
        "ALTER TABLE sample ADD COLUMN%s threads_error REAL",
    },
    {
        "CREATE TABLE binding (key TEXT NOT NULL, uid INTEGER NOT NULL, runs INTEGER NOT NULL,"
        " clean INTEGER NOT NULL, measured_at INTEGER NOT NULL, PRIMARY KEY (key, uid))",
        "CREATE INDEX binding_owner ON binding (uid, measured_at)",
    },
};

struct sql_statement *profiles_prepare(struct profiles *store, const char *sql, const char *key,
                                       struct berth_error *err)
{
    struct sql_statement *statement;

    if (sql_prepare(store->sql, sql, &statement, err) < 0)
        return NULL;
    sql_bind_text(statement, 0, key);
    return statement;
}

int profiles_run(struct sql_statement *statement, struct berth_error *err)
{
    int rc = sql_step(statement, err);

    if (rc == 0)
        rc = (int)sql_changed(statement);
    sql_finish(statement);
    return rc;
}

void profiles_bind_query(struct sql_statement *statement, const struct profile_query *query)
{
    const char *text[] = {query->key, query->shape, query->geometry, query->machine};
    int64_t oldest = query->max_age_days ? time(NULL) - (int64_t)query->max_age_days * 86400 : 0;

    for (size_t i = 0; i < 4; i++)
        sql_bind_text(statement, i, text[i] ? text[i] : "");
    sql_bind_int(statement, 4, (int64_t)query->llc_bytes);
    sql_bind_int(statement, 5, oldest);
    sql_bind_int(statement, 6, query->uid);
}

void profiles_bind_owner(struct sql_statement *statement, const uint32_t *uid)
{
    if (uid)
        sql_bind_int(statement, 1, *uid);
    else
        sql_bind_null(statement, 1);
}

#define ROWS_MAX 4096

struct sql_statement *profiles_prepare_rows(struct profiles *store, const char *select,
                                            const char *order, const struct profile_rows *rows,
                                            struct berth_error *err)
{
    struct sql_statement *statement;
    char sql[ROWS_MAX];

    snprintf(sql, sizeof(sql), "%s WHERE (?1 IS NULL OR key = ?1)%s ORDER BY %s LIMIT ?2 OFFSET ?3",
             select, rows->uid ? " AND uid = ?4" : "", order);
    statement = profiles_prepare(store, sql, rows->key, err);
    if (!statement)
        return NULL;
    sql_bind_int(statement, 1, rows->most);
    sql_bind_int(statement, 2, rows->skip);
    if (rows->uid)
        sql_bind_int(statement, 3, *rows->uid);
    return statement;
}

/* ---- the file ---- */

static void disconnect(struct profiles *store)
{
    sql_finish(store->best);
    sql_finish(store->profile);
    sql_finish(store->sample);
    sql_finish(store->distances);
    sql_finish(store->demand);
    store->best = store->profile = store->sample = store->distances = store->demand = NULL;
    sql_close(store->sql);
    store->sql = NULL;
    store->ready = false;
}

/* Has the file open that the path names now, if there is one. Returns 0, with store->sql NULL where
 * there is none; or -1 and err. */
static int refresh(struct profiles *store, struct berth_error *err)
{
    const struct sql_options options = {.writable = store->writable,
                                        .what = "profile store",
                                        .group = store->group,
                                        .wait_ms = store->writable ? WRITE_WAIT_MS : READ_WAIT_MS,
                                        .rollback = true};

    if (store->sql && !sql_is_current(store->sql))
        disconnect(store);
    if (store->sql || (!store->writable && access(store->path, F_OK) < 0 && errno == ENOENT))
        return 0;
    return sql_open_file(&store->sql, store->path, &options, err);
}

/* Is there a schema in it? Returns its version, or 0 where there is nothing at all; a store of the
 * future or somebody else's database is -1 and err. The tables are counted by one statement, which
 * sees one state of the file: another process may just be beginning it. */
static int check_schema(struct profiles *store, struct berth_error *err)
{
    struct sql_statement *row = profiles_prepare(
        store, "SELECT count(*), total(name = ?1) FROM sqlite_master", SCHEMA "_schema", err);
    int rc = row ? sql_step(row, err) : -1, version;
    bool empty = rc == 1 && sql_int(row, 0) == 0, ours = rc == 1 && sql_int(row, 1) > 0;

    sql_finish(row);
    if (rc < 0 || empty)
        return rc < 0 ? -1 : 0;
    if (!ours)
        return berth_error_set(err, "%s: a database, but no profile store", store->path);
    version = sql_version(store->sql, SCHEMA, err);
    if (version > SCHEMA_VERSION)
        return berth_error_set(err, "%s: schema %d of a newer berth; this one knows %d",
                               store->path, version, SCHEMA_VERSION);
    return version;
}

/* Brings the file to the present schema. */
static int migrate(struct profiles *store, struct berth_error *err)
{
    struct berth_error why;
    int rc = sql_run(store->sql, "PRAGMA query_only = OFF", err);

    if (rc == 0)
        rc = sql_migrate(store->sql, SCHEMA, migration, SCHEMA_VERSION, err);
    if (!store->writable)
        sql_run(store->sql, "PRAGMA query_only = ON", &why);
    store->ready = rc == 0;
    return rc;
}

int profiles_readable(struct profiles *store, struct berth_error *err)
{
    struct berth_error why;
    int version;

    if (refresh(store, err) < 0)
        return -1;
    if (!store->sql || store->ready)
        return store->ready;
    version = check_schema(store, err);
    if (version > 0 && version < SCHEMA_VERSION && migrate(store, &why) < 0)
        return berth_error_set(err,
                               "%.300s: schema %d of an older berth, which cannot be brought "
                               "to %d: %.150s",
                               store->path, version, SCHEMA_VERSION, why.text);
    store->ready = version > 0;
    return version < 0 ? -1 : store->ready;
}

/* The present schema, in a file that is made where it is missing. */
static int have_schema(struct profiles *store, struct berth_error *err)
{
    int rc = profiles_readable(store, err);

    return rc == 0 ? migrate(store, err) : rc < 0 ? -1 : 0;
}

int profiles_write(struct profiles *store,
                   int (*body)(struct profiles *store, void *arg, struct berth_error *err),
                   void *arg, struct berth_error *err)
{
    bool done;

    if (store->writes)
        return body(store, arg, err) < 0 ? -1 : 0;
    if (have_schema(store, err) < 0 || sql_begin(store->sql, err) < 0)
        return -1;
    store->writes = true;
    done = body(store, arg, err) >= 0;
    store->writes = false;
    if (done && sql_commit(store->sql, err) == 0) {
        usleep(GIVE_WAY_US); /* whoever waits comes next, before another write of this process */
        return 0;
    }
    sql_rollback(store->sql);
    return -1;
}

/* A store that nothing has been read of yet. NULL and err. */
static struct profiles *store_new(const char *path, bool writable, const char *group,
                                  struct berth_error *err)
{
    struct profiles *store = NULL;

    if (path[0] == '\0' || strlen(path) >= PATH_MAX)
        berth_error_set(err, "profile store: '%.64s' is no path", path);
    else if (!(store = calloc(1, sizeof(*store))))
        berth_error_set(err, "%s", strerror(ENOMEM));
    if (!store)
        return NULL;
    strcpy(store->path, path);
    snprintf(store->group, sizeof(store->group), "%s", group ? group : "");
    store->writable = writable;
    return store;
}

int profiles_open(struct profiles **out, const char *path, bool writable, struct berth_error *err)
{
    return profiles_open_group(out, path, writable, NULL, err);
}

int profiles_open_group(struct profiles **out, const char *path, bool writable, const char *group,
                        struct berth_error *err)
{
    struct profiles *store = store_new(path, writable, group, err);

    if (!store)
        return -1;
    if ((writable ? have_schema(store, err) : profiles_readable(store, err)) < 0) {
        profiles_close(store);
        return -1;
    }
    *out = store;
    return 0;
}

int profiles_attach(struct profiles **out, const char *path, const char *group,
                    struct berth_error *err)
{
    *out = store_new(path, false, group, err);
    return *out ? 0 : -1;
}

void profiles_close(struct profiles *store)
{
    if (!store)
        return;
    disconnect(store);
    free(store);
}
