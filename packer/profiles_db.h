/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles_db - the SQLite file under the profile store: what the parts of profiles share.
 *
 * Its rollback journal, not the write-ahead log: a reader of the log has to write to the folder
 * (its shared-memory index), and a user's `berthctl profile list` may not. A reader then waits for
 * the few milliseconds of a commit, and at most 10: a step that comes just then is placed as
 * unprofiled.
 *
 * The file may appear, be replaced or be removed while berthd runs: each use compares the path's
 * inode with the open one's. */
#ifndef BERTH_PROFILES_DB_H
#define BERTH_PROFILES_DB_H

#include <limits.h>
#include <sqlite3.h>
#include <sys/types.h>

#include "profiles.h"

#define PROFILES_SCHEMA 3

/* The statements of profiles_get, kept: each launch asks. */
struct profiles_lookup {
    sqlite3_stmt *best;             /* class and rowid of the best row */
    sqlite3_stmt *profile, *sample; /* the row by its rowid; sample NULL in an older store */
};

struct profiles {
    char path[PATH_MAX];
    bool writable;
    sqlite3 *db; /* NULL: no file yet (reader) */
    int version; /* of its schema, once seen; 0: not yet */
    struct profiles_lookup lookup;
    double busy_since_s; /* CLOCK_MONOTONIC */
    dev_t device;
    ino_t inode;
};

/* What SQLite says is wrong, in the words of this store. Returns -1. */
int profiles_fail(const struct profiles *store, int rc, struct berth_error *err);

/* Run body inside one transaction, of a file that was created and brought to the present schema
 * where it was not. 0 when body returned 0 or more and all is on disk; else -1, err, and nothing
 * has changed. Inside another transaction it is part of that. */
int profiles_write(struct profiles *store,
                   int (*body)(struct profiles *store, void *arg, struct berth_error *err),
                   void *arg, struct berth_error *err);

/* Prepare a statement and bind its ?1 to the key, if there is one. An SQLite code; *statement is to
 * be finalized in any case. */
int profiles_prepare(struct profiles *store, const char *sql, const char *key,
                     sqlite3_stmt **statement);

/* Step a statement that returns no row, and finalize it. rc: what came of preparing and binding it.
 * The number of rows changed, or -1 and err. */
int profiles_finish(struct profiles *store, int rc, sqlite3_stmt *statement,
                    struct berth_error *err);

/* A column's text, cut to size, "" for NULL; its number, NAN for NULL. */
void profiles_column_text(sqlite3_stmt *row, int column, char *text, size_t size);
double profiles_column_number(sqlite3_stmt *row, int column);

/* Bind a number, NULL where it is not finite. */
void profiles_bind_number(sqlite3_stmt *statement, int index, double value);

/* Finalize what there is of it. */
void profiles_lookup_free(struct profiles_lookup *lookup);

/* Bind a query: ?1 key, ?2 shape, ?3 geometry, ?4 machine, ?5 llc_bytes, ?6 the oldest time. An
 * SQLite code. */
int profiles_bind_query(sqlite3_stmt *statement, const struct profile_query *query);

/* Take in a row unless the store has a newer one (always with `replace`). 1 taken, 0 kept,
 * -1 and err. Inside profiles_write. */
int profiles_import_profile(struct profiles *store, const struct profile *profile, bool replace,
                            struct berth_error *err);
int profiles_import_sample(struct profiles *store, const struct profile_sample *sample,
                           bool replace, struct berth_error *err);
int profiles_import_demand(struct profiles *store, const char *key,
                           const struct profile_demand *demand, bool replace,
                           struct berth_error *err);

#endif
