/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles - see profiles.h
 *
 * SQLite with its rollback journal, not the write-ahead log: a reader of the log has to write to
 * the folder (its shared-memory index), and berthd may have to do without. A reader then waits for
 * the few milliseconds of a commit, which are rare (a person profiles a program), and at most 5: a
 * step that comes just then is placed as unprofiled.
 *
 * The file may appear, be replaced or be removed while berthd runs: each use compares the path's
 * inode with the open one's. */
#include "profiles.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"

#define READ_WAIT_MS 5
#define WRITE_WAIT_MS 2000

struct profiles {
    char path[PATH_MAX];
    bool writable;
    sqlite3 *db;          /* NULL: no file yet (reader) */
    int version;          /* of its schema, once seen; 0: not yet */
    sqlite3_stmt *lookup; /* profiles_get's, kept: each launch asks */
    dev_t device;
    ino_t inode;
};

/* The SQL that brings the schema from version i to i + 1, for every version there ever was. */
static const char *const migration[] = {
    "CREATE TABLE profile ("
    " key TEXT NOT NULL, llc_bytes INTEGER NOT NULL, llc_ways INTEGER NOT NULL,"
    " line_bytes INTEGER NOT NULL, command TEXT NOT NULL, hits TEXT NOT NULL,"
    " misses REAL NOT NULL, accesses REAL NOT NULL, instructions INTEGER NOT NULL,"
    " refs INTEGER NOT NULL, truncated INTEGER NOT NULL, measured_at INTEGER NOT NULL,"
    " source TEXT NOT NULL, PRIMARY KEY (key, llc_bytes, llc_ways, line_bytes))",
    "ALTER TABLE profile ADD COLUMN instructions_per_s REAL;"
    "CREATE TABLE demand (key TEXT PRIMARY KEY, body TEXT NOT NULL)",
};

#define SCHEMA_VERSION ((int)(sizeof(migration) / sizeof(migration[0])))
#define COLUMNS_1                                                                                  \
    "key, llc_bytes, llc_ways, line_bytes, command, hits, misses, accesses, instructions, refs,"   \
    " truncated, measured_at, source"
#define COLUMNS COLUMNS_1 ", instructions_per_s"

/* SELECT what a store of this version has; what it lacks is NULL. */
#define SELECT(store, rest)                                                                        \
    ((store)->version == 1 ? "SELECT " COLUMNS_1 ", NULL FROM profile " rest                       \
                           : "SELECT " COLUMNS " FROM profile " rest)

/* What SQLite says is wrong, in the words of this store. */
static int fail(const struct profiles *store, int rc, struct berth_error *err)
{
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
    default:
        return berth_error_set(err, "%s: %s", store->path,
                               store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc));
    }
}

/* Prepare a statement and bind its ?1 to the key, if there is one. An SQLite code; *statement is to
 * be finalized in any case. */
static int prepare(struct profiles *store, const char *sql, const char *key,
                   sqlite3_stmt **statement)
{
    int rc = sqlite3_prepare_v2(store->db, sql, -1, statement, NULL);

    if (rc == SQLITE_OK && key)
        rc = sqlite3_bind_text(*statement, 1, key, -1, SQLITE_STATIC);
    return rc;
}

static int execute(struct profiles *store, const char *sql, struct berth_error *err)
{
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : fail(store, rc, err);
}

/* The schema's version, 0 for a file without one. A store of the future or somebody else's database
 * is an error. One statement, which sees one state of the file: another process may just be
 * beginning it. */
static int read_version(struct profiles *store, int *version, struct berth_error *err)
{
    sqlite3_stmt *row = NULL;
    int rc = prepare(store,
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
        return fail(store, rc, err);
    if (*version > SCHEMA_VERSION)
        return berth_error_set(err, "%s: schema %d of a newer berth; this one knows %d",
                               store->path, *version, SCHEMA_VERSION);
    if (*version < 0 || (*version == 0 && tables > 0))
        return berth_error_set(err, "%s: a database, but no profile store", store->path);
    return 0;
}

/* Bring the schema to the present version, in one transaction. */
static int migrate(struct profiles *store, struct berth_error *err)
{
    char pragma[64];
    int version;

    if (read_version(store, &version, err) < 0)
        return -1;
    if (version == SCHEMA_VERSION)
        return 0;
    if (execute(store, "BEGIN IMMEDIATE", err) < 0)
        return -1;
    snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", SCHEMA_VERSION);
    if (read_version(store, &version, err) < 0) /* again: another writer may have come first */
        goto undo;
    for (; version < SCHEMA_VERSION; version++)
        if (execute(store, migration[version], err) < 0)
            goto undo;
    if (execute(store, pragma, err) < 0 || execute(store, "COMMIT", err) < 0)
        goto undo;
    return 0;
undo:
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

static void disconnect(struct profiles *store)
{
    sqlite3_finalize(store->lookup);
    sqlite3_close(store->db);
    store->lookup = NULL;
    store->db = NULL;
    store->version = 0;
}

static int connect_db(struct profiles *store, const struct stat *st, struct berth_error *err)
{
    int flags = store->writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    int rc = sqlite3_open_v2(store->path, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL);

    if (rc != SQLITE_OK) {
        fail(store, rc, err);
        disconnect(store);
        return -1;
    }
    sqlite3_busy_timeout(store->db, store->writable ? WRITE_WAIT_MS : READ_WAIT_MS);
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

/* Is there a schema to read? 1 yes, 0 the store is empty, -1 and err. An older one is looked at
 * again each time: a writer may bring it up to date. */
static int readable(struct profiles *store, struct berth_error *err)
{
    int version;

    if (refresh(store, err) < 0)
        return -1;
    if (!store->db)
        return 0;
    if (store->version == SCHEMA_VERSION)
        return 1;
    if (read_version(store, &version, err) < 0)
        return -1;
    if (version != store->version) {
        sqlite3_finalize(store->lookup);
        store->lookup = NULL;
    }
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

int profiles_open(struct profiles **out, const char *path, bool writable, struct berth_error *err)
{
    struct profiles *store;

    if (path[0] == '\0' || strlen(path) >= PATH_MAX)
        return berth_error_set(err, "profile store: '%.64s' is no path", path);
    store = calloc(1, sizeof(*store));
    if (!store)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    snprintf(store->path, sizeof(store->path), "%s", path);
    store->writable = writable;
    if (writable ? create_file(path, err) < 0 || refresh(store, err) < 0 || migrate(store, err) < 0
                 : readable(store, err) < 0) {
        profiles_close(store);
        return -1;
    }
    *out = store;
    return 0;
}

void profiles_close(struct profiles *store)
{
    if (!store)
        return;
    disconnect(store);
    free(store);
}

static void copy_text(sqlite3_stmt *row, int column, char *out, size_t size)
{
    const unsigned char *text = sqlite3_column_text(row, column);

    snprintf(out, size, "%s", text ? (const char *)text : "");
}

/* Read "[h1,h2,...]" of exactly `ways` numbers. */
static int parse_hits(const char *text, unsigned ways, double *hits, struct berth_error *err)
{
    struct json_object *array = text ? json_parse(text, strlen(text), err) : NULL;
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
    copy_text(row, 0, profile->key, sizeof(profile->key));
    profile->llc_bytes = (uint64_t)sqlite3_column_int64(row, 1);
    profile->llc_ways = (unsigned)sqlite3_column_int64(row, 2);
    profile->line_bytes = (unsigned)sqlite3_column_int64(row, 3);
    copy_text(row, 4, profile->command, sizeof(profile->command));
    profile->misses = sqlite3_column_double(row, 6);
    profile->accesses = sqlite3_column_double(row, 7);
    profile->instructions = (uint64_t)sqlite3_column_int64(row, 8);
    profile->references = (uint64_t)sqlite3_column_int64(row, 9);
    profile->truncated = sqlite3_column_int(row, 10) != 0;
    profile->measured_at = sqlite3_column_int64(row, 11);
    copy_text(row, 12, profile->source, sizeof(profile->source));
    profile->instructions_per_s = sqlite3_column_double(row, 13); /* NULL: 0 */
    if (parse_hits((const char *)sqlite3_column_text(row, 5), profile->llc_ways, profile->hits,
                   NULL) < 0)
        return berth_error_set(err, "%s: the profile of %.300s is damaged", store->path,
                               profile->key);
    return 0;
}

int profiles_get(struct profiles *store, const char *key, uint64_t llc_bytes,
                 struct profile *profile, struct berth_error *err)
{
    int found = readable(store, err), rc = SQLITE_OK;

    if (found != 1)
        return found;
    if (!store->lookup)
        rc = prepare(store,
                     SELECT(store, "WHERE key = ?1 ORDER BY llc_bytes = ?2 DESC, measured_at DESC"
                                   " LIMIT 1"),
                     NULL, &store->lookup);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(store->lookup, 1, key, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_int64(store->lookup, 2, (sqlite3_int64)llc_bytes);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(store->lookup);
    if (rc == SQLITE_ROW)
        found = read_row(store, store->lookup, profile, err) < 0 ? -1 : 1;
    else
        found = rc == SQLITE_DONE ? 0 : fail(store, rc, err);
    sqlite3_reset(store->lookup); /* ends the read transaction */
    sqlite3_clear_bindings(store->lookup);
    return found;
}

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
    sqlite3_bind_double(statement, 7, profile->misses);
    sqlite3_bind_double(statement, 8, profile->accesses);
    sqlite3_bind_int64(statement, 9, (sqlite3_int64)profile->instructions);
    sqlite3_bind_int64(statement, 10, (sqlite3_int64)profile->references);
    sqlite3_bind_int(statement, 11, profile->truncated);
    sqlite3_bind_int64(statement, 12, profile->measured_at);
    sqlite3_bind_text(statement, 13, profile->source, -1, SQLITE_STATIC);
    if (profile->instructions_per_s > 0) /* else NULL */
        sqlite3_bind_double(statement, 14, profile->instructions_per_s);
}

int profiles_put(struct profiles *store, const struct profile *profile, struct berth_error *err)
{
    sqlite3_stmt *statement = NULL;
    char *hits;
    int rc;

    if (profile->llc_ways > PROFILE_WAYS_MAX)
        return berth_error_set(err, "%s: a profile of %u ways", store->path, profile->llc_ways);
    if (create_file(store->path, err) < 0 || refresh(store, err) < 0 || migrate(store, err) < 0)
        return -1;
    hits = format_hits(profile);
    if (!hits)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    rc = prepare(store,
                 "INSERT OR REPLACE INTO profile (" COLUMNS ")"
                 " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
                 profile->key, &statement);
    if (rc == SQLITE_OK) {
        bind_profile(statement, profile, hits);
        rc = sqlite3_step(statement);
    }
    rc = rc == SQLITE_DONE ? 0 : fail(store, rc, err);
    sqlite3_finalize(statement);
    free(hits);
    return rc;
}

int profiles_each(struct profiles *store, int (*visit)(const struct profile *, void *), void *arg,
                  struct berth_error *err)
{
    sqlite3_stmt *row = NULL;
    struct profile profile;
    int rc = readable(store, err);

    if (rc != 1)
        return rc;
    rc = prepare(store, SELECT(store, "ORDER BY measured_at DESC, key"), NULL, &row);
    while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        if (read_row(store, row, &profile, err) < 0) {
            sqlite3_finalize(row);
            return -1;
        }
        if (visit(&profile, arg) != 0)
            break;
    }
    rc = rc == SQLITE_DONE || rc == SQLITE_OK ? 0 : fail(store, rc, err);
    sqlite3_finalize(row);
    return rc;
}

/* Run a statement about a key. How many rows it changed, or -1 and err. */
static int change(struct profiles *store, const char *sql, const char *key, const char *body,
                  struct berth_error *err)
{
    sqlite3_stmt *statement = NULL;
    int rc = prepare(store, sql, key, &statement);

    if (rc == SQLITE_OK && body)
        rc = sqlite3_bind_text(statement, 2, body, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    rc = rc == SQLITE_DONE ? sqlite3_changes(store->db) : fail(store, rc, err);
    sqlite3_finalize(statement);
    return rc;
}

int profiles_forget(struct profiles *store, const char *key, struct berth_error *err)
{
    int rc = readable(store, err), demands = 0;

    if (rc != 1)
        return rc;
    if (store->version >= 2)
        demands = change(store, "DELETE FROM demand WHERE key = ?1", key, NULL, err);
    rc = demands < 0 ? -1 : change(store, "DELETE FROM profile WHERE key = ?1", key, NULL, err);
    return rc < 0 ? -1 : rc + demands > 0;
}

/* ---- demands ---- */

/* The demand in a row's text; NULL and err. */
static struct profile_demand *read_demand(const struct profiles *store, sqlite3_stmt *row,
                                          struct berth_error *err)
{
    const char *text = (const char *)sqlite3_column_text(row, 0);
    struct json_object *object = text ? json_parse(text, strlen(text), err) : NULL;
    struct profile_demand *demand = object ? profile_demand_parse(object, err) : NULL;

    json_object_put(object);
    if (!demand)
        berth_error_set(err, "%s: a demand in it is damaged", store->path);
    return demand;
}

int profiles_get_demand(struct profiles *store, const char *key, struct profile_demand **demand,
                        struct berth_error *err)
{
    sqlite3_stmt *row = NULL;
    int found = readable(store, err), rc;

    if (found != 1 || store->version < 2)
        return found < 0 ? -1 : 0;
    rc = prepare(store, "SELECT body FROM demand WHERE key = ?1", key, &row);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(row);
    if (rc == SQLITE_ROW) {
        *demand = read_demand(store, row, err);
        found = *demand ? 1 : -1;
    } else {
        found = rc == SQLITE_DONE ? 0 : fail(store, rc, err);
    }
    sqlite3_finalize(row);
    return found;
}

int profiles_put_demand(struct profiles *store, const char *key,
                        const struct profile_demand *demand, struct berth_error *err)
{
    struct json_object *object;
    int rc;

    if (create_file(store->path, err) < 0 || refresh(store, err) < 0 || migrate(store, err) < 0)
        return -1;
    object = profile_demand_json(demand);
    rc = change(store, "INSERT OR REPLACE INTO demand (key, body) VALUES (?1,?2)", key,
                json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), err);
    json_object_put(object);
    return rc < 0 ? -1 : 0;
}

double profile_core_gbps(const struct profile *profile)
{
    if (!(profile->instructions_per_s > 0 && isfinite(profile->instructions_per_s)))
        return NAN;
    return profile->misses / 1e6 * profile->instructions_per_s * profile->line_bytes / 1e9;
}

/* ---- keys ---- */

void profile_key_exe(char *key, const char *path, const char *hash)
{
    snprintf(key, PROFILE_KEY_MAX, "exe:%s#%s", path, hash);
}

void profile_key_tag(char *key, const char *tag)
{
    snprintf(key, PROFILE_KEY_MAX, "tag:%s", tag);
}
